//! Where the engines of a stage come from: `League A:1..3`, `Stage 1:1,4,5,8`, `Division 3:1..`, `League B:odd`.

use std::fmt;
use std::str::FromStr;

/// Places of another stage, or of an event before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlaceSource {
    /// The stage, or the journal of another event.
    pub(crate) stage: String,
    /// The places of its ranking.
    pub(crate) places: PlaceRange,
}

/// Places of a ranking, from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PlaceRange {
    /// These.
    These(Vec<usize>),
    /// The best ones, as many as there is room for: vacant places change how many (rule 1.8 of the leagues).
    Best,
    /// The best with an odd number, as many as there is room for.
    Odd,
    /// The best with an even number, as many as there is room for.
    Even,
    /// The engines level on points for the last spots of the playoff that takes them; none where none are level.
    Tied,
}

impl PlaceRange {
    /// The places of a ranking of `length` engines, best first, where `room` are taken.
    pub(crate) fn list(&self, length: usize, room: usize) -> Vec<usize> {
        let parity = |odd: usize| -> Vec<usize> {
            (1..=length).filter(|place| place % 2 == odd).take(room).collect()
        };
        match self {
            PlaceRange::These(places) => places.clone(),
            PlaceRange::Best => (1..=length).take(room).collect(),
            PlaceRange::Odd => parity(1),
            PlaceRange::Even => parity(0),
            PlaceRange::Tied => Vec::new(),
        }
    }
}

/// The text names no places.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} names no places; write STAGE:1..3, STAGE:1,4,5, STAGE:1.. for as many as there is room for, \
     STAGE:odd or STAGE:even, and STAGE:tied for a playoff"
)]
pub(crate) struct NoPlaces(String);

impl FromStr for PlaceSource {
    type Err = NoPlaces;

    fn from_str(text: &str) -> Result<PlaceSource, NoPlaces> {
        let wrong = || NoPlaces(text.to_owned());
        let (stage, places) = text.rsplit_once(':').ok_or_else(wrong)?;
        let number =
            |text: &str| text.trim().parse().ok().filter(|place| (1..=1000).contains(place));
        let places = match places.trim() {
            "odd" => PlaceRange::Odd,
            "even" => PlaceRange::Even,
            "tied" => PlaceRange::Tied,
            "1.." => PlaceRange::Best,
            list => {
                let mut all = Vec::new();
                for part in list.split(',') {
                    let (first, last) = part.split_once("..").unwrap_or((part, part));
                    let (Some(first), Some(last)) = (number(first), number(last)) else {
                        return Err(wrong());
                    };
                    all.extend::<std::ops::RangeInclusive<usize>>(first..=last);
                }
                if all.is_empty() {
                    return Err(wrong());
                }
                PlaceRange::These(all)
            }
        };
        Ok(PlaceSource { stage: stage.trim().to_owned(), places })
    }
}

impl fmt::Display for PlaceSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.stage)?;
        match &self.places {
            PlaceRange::Best => f.write_str("1.."),
            PlaceRange::Odd => f.write_str("odd"),
            PlaceRange::Even => f.write_str("even"),
            PlaceRange::Tied => f.write_str("tied"),
            PlaceRange::These(places) => {
                let places: Vec<String> = places.iter().map(ToString::to_string).collect();
                f.write_str(&places.join(","))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(text: &str, room: usize) -> Vec<usize> {
        text.parse::<PlaceSource>().unwrap().places.list(8, room)
    }

    #[test]
    fn places_are_lists_ranges_and_as_many_as_there_is_room_for() {
        assert_eq!(places("League A:1..3", 0), [1, 2, 3]);
        assert_eq!(places("Stage 1: 1,4,5..6", 9), [1, 4, 5, 6]);
        assert_eq!(places("Division 3:1..", 2), [1, 2]);
        assert_eq!(places("A:odd", 2), [1, 3]);
        assert_eq!(places("A:even", 1), [2]);
        for wrong in ["League A", "A:", "A:0", "A:x", "A:3..2", "A:2.."] {
            assert!(wrong.parse::<PlaceSource>().is_err(), "{wrong}");
        }
        assert_eq!("A b:1..2".parse::<PlaceSource>().unwrap().to_string(), "A b:1,2");
    }
}
