//! Ties in a table that the organisers decided.

use super::standings::{Place, PlacedBy, Standings, StandingsRow};

impl Standings {
    /// Ranks the engines of each tie that the organisers have decided: by the last order that names exactly these.
    pub(crate) fn decide<'a>(&mut self, orders: impl IntoIterator<Item = &'a [String]>) {
        let orders: Vec<&[String]> = orders.into_iter().collect();
        let mut columns: Vec<usize> = (0..self.rows.len()).collect();
        let mut start = 0;
        while let Some(row) = self.rows.get(start) {
            let Place::Ranked { rank, tied: true, by } = row.place else {
                start += 1;
                continue;
            };
            let tied = self.rows[start..].iter().take_while(|row| row.place.rank() == Some(rank));
            let names: Vec<&String> = tied.map(|row| &row.engine.name).collect();
            let end = start + names.len();
            let is_of_these = |order: &&&[String]| {
                order.len() == names.len() && names.iter().all(|name| order.contains(name))
            };
            if let Some(order) = orders.iter().rev().find(is_of_these) {
                let at = |row: &StandingsRow| {
                    order.iter().position(|name| *name == row.engine.name).unwrap_or_default()
                };
                columns[start..end].sort_by_key(|column| at(&self.rows[*column]));
                self.rows[start..end].sort_by_key(at);
                for (below, row) in (0..).zip(&mut self.rows[start..end]) {
                    let by = if below == 0 { by } else { Some(PlacedBy::Organisers) };
                    row.place = Place::Ranked { rank: rank + below, tied: false, by };
                }
            }
            start = end;
        }
        self.order_columns(&columns);
    }

    /// Gives the engines the places of these groups, the best first, whatever their points: in a bracket its matches rank. An engine that was
    /// withdrawn keeps the place of its last match; one that these groups do not name stays behind the others.
    pub(crate) fn place_by(&mut self, ranking: &[Vec<String>]) {
        let group_of = |row: &StandingsRow| {
            let named = |group: &Vec<String>| group.contains(&row.engine.name);
            ranking.iter().position(named).unwrap_or(usize::MAX)
        };
        let groups: Vec<usize> = self.rows.iter().map(group_of).collect();
        let mut columns: Vec<usize> = (0..self.rows.len()).collect();
        columns.sort_by_key(|column| groups[*column]);
        self.rows.sort_by_key(group_of);
        let mut rank = 1;
        for rows in self.rows.chunk_by_mut(|a, b| group_of(a) == group_of(b)) {
            let tied = rows.len() > 1;
            let is_named = rows.first().is_some_and(|row| group_of(row) < usize::MAX);
            for row in rows.iter_mut() {
                row.place = match row.place {
                    Place::Ranked { .. } => Place::Ranked { rank, tied, by: None },
                    Place::Withdrawn { .. } if is_named => {
                        Place::Withdrawn { rank: Some(rank), tied }
                    }
                    other => other,
                };
            }
            rank += rows.len() as u32;
        }
        self.order_columns(&columns);
    }

    /// Brings each row's results into the order that the rows have now: `columns` are their places before.
    fn order_columns(&mut self, columns: &[usize]) {
        for row in &mut self.rows {
            let mut cells = std::mem::take(&mut row.results);
            row.results =
                columns.iter().map(|column| std::mem::take(&mut cells[*column])).collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::field::WithdrawnGames;
    use super::super::field::tests::field;
    use super::super::standings::tests::standings;
    use super::super::tiebreak::TiebreakChain;
    use super::*;

    fn told(table: &Standings) -> String {
        let rows = table.rows.iter().map(|row| match row.place {
            Place::Ranked { rank, tied, .. } => {
                let shared = if tied { "=" } else { "" };
                format!("{rank}{shared} {} {}", row.engine.name, row.points)
            }
            Place::Withdrawn { rank: Some(rank), tied } => {
                let shared = if tied { "=" } else { "" };
                format!("{rank}{shared} {} (withdrawn)", row.engine.name)
            }
            Place::Disqualified | Place::Withdrawn { .. } => format!("- {}", row.engine.name),
        });
        rows.collect::<Vec<_>>().join(", ")
    }

    /// Three in a circle before d, who lost to all of them.
    #[test]
    fn a_decided_tie_is_ranked_by_the_organisers() {
        let mut table = standings("a-b 0, b-c 0, c-a 0, a-d 1, b-d 1, c-d 1", "swiss");
        assert_eq!(told(&table), "1= a 2, 1= b 2, 1= c 2, 4 d 0");
        let names = |list: &str| list.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let orders = ["a c b", "c b a", "b a"].map(names);
        table.decide(orders.iter().map(|order| &order[..]));
        assert_eq!(told(&table), "1 c 2, 2 b 2, 3 a 2, 4 d 0");
        let by = |row: usize| match table.rows[row].place {
            Place::Ranked { by, .. } => by,
            Place::Disqualified | Place::Withdrawn { .. } => None,
        };
        let organisers = Some(PlacedBy::Organisers);
        assert_eq!([0, 1, 2, 3].map(by), [None, organisers, organisers, None]);
        let row = |row: usize| -> String {
            let cells = table.rows[row].results.iter();
            cells.map(|cells| cells.first().map_or('.', |cell| cell.symbol())).collect()
        };
        assert_eq!([0, 1, 2, 3].map(row), [".101", "0.11", "10.1", "000."]);
        assert_eq!(table.ties().count(), 0);
    }

    #[test]
    fn places_of_matches_go_before_points() {
        let mut table = standings("a-b 1, b-a 1, a-b 1, c-d 1, a-c 0", "swiss");
        assert_eq!(table.rows[0].engine.name, "c");
        let groups = [&["a"][..], &["c"], &["b", "d", "another"]];
        table.place_by(&groups.map(|group| group.iter().map(|&name| name.to_owned()).collect()));
        assert_eq!(told(&table), "1 a 2, 2 c 2, 3= b 1, 3= d 0");
        let row =
            |row: usize| -> Vec<usize> { table.rows[row].results.iter().map(Vec::len).collect() };
        let expected = [[0, 1, 3, 0], [1, 0, 0, 1], [3, 0, 0, 0], [0, 1, 0, 0]];
        assert_eq!([0, 1, 2, 3].map(row), expected);
    }
    #[test]
    fn a_withdrawn_engine_keeps_the_place_of_its_last_match() {
        let chain = TiebreakChain::named("swiss").unwrap();
        let mut field = field("a-d 1, b-c 1, a-b 1");
        field.withdraw("b", WithdrawnGames::Counts);
        field.withdraw("d", WithdrawnGames::Counts);
        let mut table = Standings::of(&field, chain);
        assert_eq!(told(&table), "1 a 2, 2 c 0, - b, - d");
        let groups = [&["a"][..], &["b"], &["c", "d"]];
        table.place_by(&groups.map(|group| group.iter().map(|&name| name.to_owned()).collect()));
        assert_eq!(told(&table), "1 a 2, 2 b (withdrawn), 3= c 0, 3= d (withdrawn)");
        // One that the ranking does not name has no rank.
        let mut table = Standings::of(&field, chain);
        table.place_by(&[vec!["a".to_owned()], vec!["c".to_owned()]]);
        assert_eq!(told(&table), "1 a 2, 2 c 0, - b, - d");
    }
}
