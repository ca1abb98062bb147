//! Runs as several rules read them: the one that is measured, the chain of programs, the end, the conversation.

use crate::engine::wire::{LONGEST_LINE, MOST_LINES};
use crate::judge::support::wording;
use crate::model::command_words::base_name;
use crate::model::evidence::{
    Answer, Ask, EndHow, Evidence, Exec, ExitHow, GamesEvidence, GoQuestion, ProgramClass, Purpose,
    Question, Run, Shell, WhyIllegal,
};
use crate::model::rule::RuleId;
use crate::model::typographic::Typographic;
use crate::model::units::Bytes;
use crate::model::words;

/// True if the run got as far as its first `readyok`.
pub(crate) fn is_up(run: &Run) -> bool {
    run.uciok.is_some() && run.readyok.is_some()
}

/// True if the run came up and did not end before it was asked to: what it wanted in vain it did not need.
pub(crate) fn went_well(run: &Run) -> bool {
    is_up(run) && run.ending.how != EndHow::ByItself
}

/// True if the engine can be judged in this run as the event would run it: a start under the neutral
/// name by whichever shell is the better one.
fn is_main(run: &Run) -> bool {
    matches!(run.purpose, Purpose::Main | Purpose::OtherShell)
}

/// The run whose start counts: the first main run that came up; else the other shell's; else the first
/// main run, however it failed.
pub(crate) fn measured(evidence: &Evidence) -> Option<&Run> {
    evidence
        .of(Purpose::Main)
        .find(|run| is_up(run))
        .or_else(|| evidence.runs.iter().find(|run| is_main(run) && is_up(run)))
        .or_else(|| evidence.main())
}

/// The run of which a report shows times and transcript: the first main run that came up, else the first of all.
pub(crate) fn shown_run(runs: &[Run]) -> Option<&Run> {
    let up = |run: &&Run| run.purpose == Purpose::Main && run.readyok.is_some();
    runs.iter().find(up).or_else(|| runs.first())
}

/// As [`measured`], where an engine answered to `uci` and `isready`, so that the rest can be judged.
pub(crate) fn engine(evidence: &Evidence) -> Option<&Run> {
    measured(evidence).filter(|run| is_up(run))
}

/// The runs that count for the entry: those that ask no more than the rules demand. Faults in the
/// others (bare `go`, FEN, a kill in the middle, a path with a blank …) can only add advice.
pub(crate) fn gate_runs(evidence: &Evidence) -> impl Iterator<Item = &Run> {
    let measured = measured(evidence);
    evidence.runs.iter().filter(move |run| match run.purpose {
        // A main run that another shell made up for is no longer what the event would start.
        Purpose::Main | Purpose::OtherShell => measured.is_some_and(|chosen| {
            std::ptr::eq(chosen, *run)
                || (chosen.purpose, chosen.shell) == (Purpose::Main, run.shell)
                    && run.purpose == Purpose::Main
        }),
        purpose => purpose.can_reject(),
    })
}

/// True if a start failed where that can only be advice, since the engine came up otherwise: at a path with a blank, which
/// no event has, or by a shell that another one made up for.
pub(crate) fn failed_aside(evidence: &Evidence, run: &Run) -> bool {
    matches!(run.purpose, Purpose::BlankPath | Purpose::OtherShell)
        && !is_up(run)
        && engine(evidence).is_some()
}

/// True if nothing that a run started or opened counts: its start failed, and no event has such a start. A stub whose
/// `$0` was split at the blank tries what it never tries elsewhere.
pub(crate) fn counts_for_nothing(evidence: &Evidence, run: &Run) -> bool {
    run.purpose == Purpose::BlankPath && failed_aside(evidence, run)
}

/// The questions of a run with their index, up to the first that was not answered: an engine that hung before a question is the
/// matter of the rule under which it hung.
pub(crate) fn asked(run: &Run) -> impl Iterator<Item = (usize, &Ask)> {
    let upto = first_trouble(run).map_or(usize::MAX, |trouble| trouble + 1);
    run.asks.iter().enumerate().take(upto)
}

/// True if more moves were heard than it was asked for, in a probe or between two moves of a game.
pub(crate) fn tells_moves_twice(evidence: &Evidence) -> bool {
    let in_games = matches!(&evidence.games, GamesEvidence::Played(played) if played.surplus_moves);
    in_games || evidence.runs.iter().any(|run| run.surplus_moves)
}

/// A question, its run, and its number there.
pub(crate) type AskInRun<'a> = (&'a Run, usize, &'a Ask);

/// The questions of one kind in the runs that count. A run that said `uciok` can be judged by them even where its start failed
/// for want of their answer.
pub(crate) fn all_asked<'a>(evidence: &'a Evidence, question: &Question) -> Vec<AskInRun<'a>> {
    gate_runs(evidence)
        .filter(|run| run.uciok.is_some())
        .flat_map(|run| asked(run).map(move |(index, ask)| (run, index, ask)))
        .filter(|(_, _, ask)| ask.question == *question)
        .collect()
}

/// A search and where it stands in its run.
#[derive(Clone, Copy)]
pub(crate) struct SearchInRun<'a> {
    pub(crate) run: &'a Run,
    /// Its number among the questions.
    pub(crate) index: usize,
    pub(crate) ask: &'a Ask,
    pub(crate) go: &'a GoQuestion,
}

/// The searches among the questions of a run that count, as [`asked`] has them.
pub(crate) fn searches(run: &Run) -> impl Iterator<Item = SearchInRun<'_>> {
    asked(run)
        .filter_map(move |(index, ask)| Some(SearchInRun { run, index, ask, go: ask.search()? }))
}

/// The same search, asked again in fresh processes.
pub(crate) fn again<'a>(
    evidence: &'a Evidence,
    go: &'a GoQuestion,
) -> impl Iterator<Item = SearchInRun<'a>> {
    let all = evidence.of(Purpose::Again).flat_map(searches);
    all.filter(|again| again.go.command == go.command)
}

/// The lines that were sent up to the end of a conversation, or to its first failure, whole and in order, so that anybody
/// can send them again.
pub(crate) fn commands(run: &Run) -> Vec<String> {
    let upto = run.asks.iter().position(|ask| !ask.answer.is_good());
    commands_upto(run, upto.unwrap_or(run.asks.len()))
}

/// True if what lies there would have stayed: everything had ended by itself, or the grace was over. Runs
/// that were cut short right after their last answer say nothing, since a `sleep 3;rm` may have been on
/// its way.
pub(crate) fn leaves_finally(run: &Run) -> bool {
    run.ending.emptied_after.is_some() || !run.left_processes.is_empty()
}

/// The lines that were sent up to a question.
pub(crate) fn commands_upto(run: &Run, index: usize) -> Vec<String> {
    let asks = run.asks.iter().take(index.saturating_add(1));
    let own = asks.flat_map(|ask| {
        let asked = match &ask.question {
            Question::Uci => vec!["uci".to_owned()],
            Question::IsReady => vec!["isready".to_owned()],
            Question::NewGame => vec!["ucinewgame".to_owned(), "isready".to_owned()],
            Question::Go(go) => vec![go.command.clone(), go.go.clone()],
            Question::Quit => vec!["quit".to_owned()],
            Question::EndOfInput => Vec::new(),
        };
        ask.set.iter().flat_map(|set| set.lines()).map(str::to_owned).chain(asked)
    });
    run.before.iter().cloned().chain(own).collect()
}

/// True for the form that rule 7.9 names: `go wtime A btime B winc C binc D`.
pub(crate) fn is_rule_form(go: &GoQuestion) -> bool {
    let words: Vec<&str> = go.go.split_whitespace().collect();
    let keys: Vec<&str> = words.iter().skip(1).step_by(2).copied().collect();
    words.first() == Some(&"go") && keys == ["wtime", "btime", "winc", "binc"] && words.len() == 9
}

/// The first question of the run that was not answered at all (an illegal move is an answer). Faults
/// after it are its consequence and are held against nobody.
pub(crate) fn first_trouble(run: &Run) -> Option<usize> {
    run.asks
        .iter()
        .position(|ask| !ask.answer.is_good() && !matches!(ask.answer, Answer::Illegal { .. }))
}

/// True if `quit` was sent to an engine that had answered everything before, so that what remains
/// counts (rule 7.4). An engine that hung or died before could not tidy up.
pub(crate) fn was_told_to_quit(run: &Run) -> bool {
    let quit = run.asks.iter().position(|ask| ask.question == Question::Quit);
    match (first_trouble(run), quit) {
        (Some(trouble), Some(quit)) => trouble >= quit,
        (Some(_), None) => false,
        (None, Some(_)) => true,
        (None, None) => run.ending.how == EndHow::Quit,
    }
}

/// The runs after which nothing may remain: those that count and were told to quit, and those that ended in good order, by `quit`
/// or by themselves and without an error, after the form of `go` that the engine need not know.
pub(crate) fn ended_as_asked(evidence: &Evidence) -> impl Iterator<Item = &Run> {
    let quit = |ask: &Ask| ask.question == Question::Quit && ask.answer == Answer::Done;
    let other_go = evidence.of(Purpose::OtherGo).filter(move |run| match run.ending.how {
        EndHow::Quit => run.asks.iter().any(quit),
        EndHow::ByItself => run.ending.exit == Some(ExitHow::Status(0)),
        _ => false,
    });
    gate_runs(evidence).filter(|run| was_told_to_quit(run)).chain(other_go)
}

/// The rule behind which everything stands that needs a run which ended in good order.
pub(crate) fn needs_good_end(evidence: &Evidence) -> RuleId {
    if engine(evidence).is_none() { RuleId::Startup } else { RuleId::UciGo }
}

/// The run in a few words, for sentences.
pub(crate) fn purpose(run: &Run) -> String {
    let what = match run.purpose {
        Purpose::Main => "the measured run".to_owned(),
        Purpose::Positions => "a run through positions".to_owned(),
        Purpose::LongGame(plies) => format!("the game of {plies}"),
        Purpose::Clock => "the clock's run".to_owned(),
        Purpose::Idle => "the run that waits".to_owned(),
        Purpose::BareGo => "the run with bare `go`".to_owned(),
        Purpose::OtherGo => "the run with the `go` that it does not know".to_owned(),
        Purpose::Capabilities => "the run that tries more of UCI".to_owned(),
        Purpose::EndOfInput => "the run whose input was closed".to_owned(),
        Purpose::QuitWhileThinking => "the run that was told to quit while it thought".to_owned(),
        Purpose::KilledMidway => "the run that was killed in the middle".to_owned(),
        Purpose::SmallClock => "a run on a clock below the event's".to_owned(),
        Purpose::ByChance => "a run that went well when it was made again".to_owned(),
        Purpose::Unrepeated => "a run of which not all was asked again".to_owned(),
        Purpose::Again => "a question asked again".to_owned(),
        Purpose::BlankPath => "the run at a path with a blank".to_owned(),
        Purpose::OtherShell => "the run by the other shell".to_owned(),
        Purpose::OwnName => "the run under its own name".to_owned(),
    };
    match run.shell {
        Shell::AsIs => what,
        Shell::Dash => format!("{what} (dash as /bin/sh)"),
        Shell::Bash => format!("{what} (bash as /bin/sh)"),
    }
}

/// The chain of programs down to one: `entry > sh > cc > cc1`.
pub(crate) fn lineage(run: &Run, index: Option<usize>) -> String {
    let mut names = Vec::new();
    let mut at = index;
    // A chain is never longer than the list; a bound keeps a damaged record from looping.
    for _ in 0..run.execs.len() {
        let Some(exec) = run.exec(at) else { break };
        names.push(title(exec));
        at = exec.by;
    }
    if names.is_empty() {
        return "entry".to_owned();
    }
    names.reverse();
    names.join(" > ")
}

/// A program's name in a lineage; the entry's own neutral name says nothing.
fn title(exec: &Exec) -> &str {
    if exec.class == ProgramClass::Entry { "entry" } else { &exec.name }
}

/// A file of the entry's own that did not start, with the interpreter or loader that it names and that is not there.
pub(crate) fn lacks_reader(run: &Run) -> Option<(&Exec, &str)> {
    run.execs.iter().find_map(|exec| Some((exec, exec.lacks.as_deref()?)))
}

/// The names of shells.
const SHELLS: [&str; 3] = ["sh", "bash", "dash"];

/// An exit of a run in words, with what shells mean by theirs where one ran in it.
pub(crate) fn exit_words(run: &Run, exit: ExitHow) -> String {
    wording::exit_words(exit, has_shell(run))
}

/// True if a shell ran, by its name or as what reads a script.
pub(crate) fn has_shell(run: &Run) -> bool {
    let is_shell = |name: &str| SHELLS.contains(&name);
    run.execs.iter().any(|exec| {
        let reader = exec.real.as_deref().map(base_name);
        is_shell(&exec.name) || reader.is_some_and(is_shell)
    })
}

/// The end of a run that came before it was asked for.
pub(crate) fn how_it_ended(run: &Run) -> Option<String> {
    if run.ending.how != EndHow::ByItself {
        return None;
    }
    Some(match run.ending.exit {
        Some(exit) => exit_words(run, exit),
        None => "its output ended".to_owned(),
    })
}

/// The words for an answer, or for what came in its place.
pub(crate) fn answer_words(ask: &Ask, run: &Run) -> String {
    match &ask.answer {
        Answer::Done => "answered".to_owned(),
        Answer::Legal(uci) => format!("bestmove {uci}"),
        Answer::Resigned => "`bestmove resign`".to_owned(),
        Answer::Illegal { line, why } => format!("{}: {why}", quoted(line)),
        Answer::Timeout => {
            let (line, lacks) = match &ask.unfinished {
                Some(line) => (Some(line), " without a line's end"),
                None => (ask.other.as_ref(), ""),
            };
            let said = line
                .map(|line| format!("; it said {}{lacks}", quoted(&wording::shorten(line, 80))));
            let said = said.unwrap_or_default();
            let is_last = run.asks.last().is_some_and(|last| std::ptr::eq(last, ask));
            let stopped = run.stopped.as_ref().filter(|_| is_last);
            let stopped = stopped.map_or_else(String::new, |process| {
                format!("; it stopped itself (a signal stopped `{}`)", process.command)
            });
            format!("no answer within {}{said}{stopped}", wording::secs(ask.took))
        }
        Answer::Ended(exit) => match exit.or(run.ending.exit.filter(|_| {
            // Only an exit that the engine chose itself explains the end of its output.
            run.ending.how == EndHow::ByItself
        })) {
            Some(exit) => {
                format!("it ended after {}: {}", wording::secs(ask.took), exit_words(run, exit))
            }
            None => format!("it closed its output after {}", wording::secs(ask.took)),
        },
        // Fewer bytes are a flood only where they are one line.
        Answer::Flood(bytes) if *bytes < Bytes(MOST_LINES) => {
            format!(
                "it wrote {bytes} without the answer, and a line of more than {LONGEST_LINE} bytes, which is not read"
            )
        }
        Answer::Flood(bytes) => format!("it wrote {bytes} without the answer"),
        Answer::OnlyAtEnd => {
            "nothing while it waited for more input, and the answer once that was closed".to_owned()
        }
        Answer::NotTaken => "it no longer read its input".to_owned(),
    }
}

/// A line in quotes. A blank of typography looks like any other, so it is named.
fn quoted(line: &str) -> String {
    match Typographic::first_in(line) {
        Some(sign) => format!("`{line}` (with {} in it)", sign.shown()),
        None => format!("`{line}`"),
    }
}

/// Fatal signals in the run, each with the program that got it.
pub(crate) fn crashes(run: &Run) -> Vec<String> {
    run.crashes
        .iter()
        .take(5)
        .map(|crash| {
            format!(
                "{} at {}: {}",
                lineage(run, crash.by),
                wording::secs(crash.at),
                ExitHow::Signal(crash.signal)
            )
        })
        .collect()
}

/// The account of a failure at a question: fatal signals, the end of the standard error, the conversation so far.
pub(crate) fn account(run: &Run, index: usize) -> Vec<String> {
    [crashes(run), stderr(run), conversation(run, index)].concat()
}

/// The end of its standard error.
pub(crate) fn stderr(run: &Run) -> Vec<String> {
    let skip = run.stderr_tail.len().saturating_sub(8);
    run.stderr_tail.iter().skip(skip).map(|line| format!("stderr: {line}")).collect()
}

/// The next step where the answer came without the end of its line.
pub(crate) fn line_end_help(ask: &Ask) -> Option<&'static str> {
    let wanted = match &ask.question {
        Question::Uci => "uciok",
        Question::IsReady | Question::NewGame => "readyok",
        Question::Go(_) => "bestmove",
        Question::Quit | Question::EndOfInput => return None,
    };
    ask.unfinished.as_ref().filter(|said| said.starts_with(wanted)).map(|_| {
        "end the line with a line feed (`\\n`), and flush it: a line without its end is no answer to any runner"
    })
}

/// The next step where the answer is a move that is not written as in UCI, whichever it is.
pub(crate) fn writing_help(answer: &Answer) -> Option<&'static str> {
    let Answer::Illegal { why, .. } = answer else { return None };
    help_to_write(why)
}

/// The same for the reason why a move is none.
pub(crate) fn help_to_write(why: &WhyIllegal) -> Option<&'static str> {
    (why.is_misspelt() || why.is_a_way_of_writing()).then_some(
        "write moves as `e2e4`, `e1g1` for castling and `e7e8q` for promotion, all in lower case and with no sign \
         beside them: cutechess would play some that are written otherwise (`e7e8Q`, `e7e8=Q`, `e1h1`), other runners lose the game by it",
    )
}

/// True if it wrote such a line to its standard error.
pub(crate) fn said_on_stderr(run: &Run, word: &str) -> bool {
    run.stderr_tail.iter().any(|line| line.trim() == word)
}

/// The options that were set before a question of the run, in a line: an engine may fail only by one of them.
pub(crate) fn options_set(run: &Run, before: usize) -> Option<String> {
    let earlier = run.before.iter().filter(|line| line.starts_with("setoption "));
    let own = run.asks.iter().take(before).filter_map(|ask| ask.set.as_ref());
    let own = own.flat_map(|set| set.lines());
    let all = earlier.map(String::as_str).chain(own);
    let sets: Vec<String> = all.map(|set| wording::shorten(set, 160)).collect();
    (!sets.is_empty()).then(|| format!("sent before: {}", words::some(&sets, 6)))
}

/// The conversation around a question, with times: `>` to the engine, `<` from it.
pub(crate) fn conversation(run: &Run, upto: usize) -> Vec<String> {
    let from = (upto + 1).saturating_sub(3);
    let mut lines: Vec<String> = options_set(run, from).into_iter().collect();
    for ask in run.asks.iter().take(upto + 1).skip(from) {
        let at = wording::secs(ask.at);
        let sets = ask.set.iter().flat_map(|set| set.lines());
        lines.extend(sets.map(|set| format!("{at} > {}", wording::shorten(set, 160))));
        match &ask.question {
            Question::Uci => lines.push(format!("{at} > uci")),
            Question::IsReady => lines.push(format!("{at} > isready")),
            Question::NewGame => lines.push(format!("{at} > ucinewgame, isready")),
            Question::Go(go) => {
                lines.push(format!("{at} > {}", wording::shorten(&go.command, 160)));
                lines.push(format!("{at} > {}", go.go));
            }
            Question::Quit => lines.push(format!("{at} > quit")),
            Question::EndOfInput => lines.push(format!("{at} > (end of input)")),
        }
        if let Some(info) = &ask.last_info {
            lines.push(format!("{} < {info}", wording::secs(ask.at + ask.took)));
        }
        let said = match (&ask.question, &ask.answer) {
            (Question::Uci, Answer::Done) => "uciok".to_owned(),
            (Question::IsReady | Question::NewGame, Answer::Done) => "readyok".to_owned(),
            (Question::Quit | Question::EndOfInput, Answer::Done) => "(ended)".to_owned(),
            (_, Answer::Illegal { line, .. }) => line.clone(),
            (_, Answer::Resigned) => "bestmove resign".to_owned(),
            _ => format!("({})", answer_words(ask, run)),
        };
        lines.push(format!("{} < {said}", wording::secs(ask.at + ask.took)));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::support::testing;

    #[test]
    fn lineage_goes_down_to_the_entry() {
        let run = testing::run(Purpose::Main).started(Some(0), "cc", ProgramClass::Listed).started(
            Some(1),
            "cc1",
            ProgramClass::Helper,
        );
        assert_eq!(lineage(&run, Some(2)), "entry > cc > cc1");
        assert_eq!(lineage(&run, None), "entry");
    }

    #[test]
    fn the_other_shell_is_measured_where_the_first_failed() {
        let failed = testing::run(Purpose::Main).not_up();
        let mut other = testing::run(Purpose::OtherShell);
        other.shell = Shell::Bash;
        let evidence = testing::evidence_of([failed, other]);
        assert_eq!(engine(&evidence).unwrap().purpose, Purpose::OtherShell);
        assert_eq!(gate_runs(&evidence).count(), 1);
    }

    #[test]
    fn options_are_among_the_commands() {
        let mut run = testing::run(Purpose::Main);
        run.asks[2] = Ask {
            set: Some("setoption name Hash value 1".into()),
            ..testing::ask(Question::IsReady, 510, 5, Answer::Done)
        };
        assert_eq!(
            commands_upto(&run, 3),
            [
                "uci",
                "isready",
                "setoption name Hash value 1",
                "isready",
                "position startpos",
                "go wtime 1800000 btime 1800000 winc 3000 binc 3000"
            ]
        );
    }

    #[test]
    fn a_short_conversation_names_the_options_that_were_set_before_it() {
        let set = "setoption name Odd value true";
        let mut run = testing::run(Purpose::Main);
        run.asks[1].set = Some(set.into());
        let of = |upto| conversation(&run, upto).iter().filter(|line| line.contains(set)).count();
        assert_eq!(conversation(&run, 4).first(), Some(&format!("sent before: {set}")));
        // Once, also where it is among the lines that are shown.
        assert_eq!((of(2), of(4)), (1, 1));
        assert!(conversation(&testing::run(Purpose::Main), 4)[0].contains("> ucinewgame"));
    }

    #[test]
    fn an_answer_without_a_line_feed_is_told_to_have_one() {
        let question = || Question::Go(testing::go("startpos", "position startpos", 0));
        let mut ask = testing::ask(question(), 0, 20_600, Answer::Timeout);
        let run = testing::run(Purpose::Main);
        assert_eq!(line_end_help(&ask), None);
        (ask.other, ask.unfinished) = (Some("hm".into()), Some("> ".into()));
        assert!(answer_words(&ask, &run).ends_with("it said `> ` without a line's end"));
        assert_eq!(line_end_help(&ask), None, "a prompt is no answer");
        ask.unfinished = Some("bestmove f2f3".into());
        assert!(line_end_help(&ask).is_some_and(|help| help.contains("line feed")));
    }

    #[test]
    fn a_line_that_is_too_long_is_named() {
        let words = |bytes| {
            let question = Question::Go(testing::go("startpos", "position startpos", 0));
            let ask = testing::ask(question, 0, 10, Answer::Flood(Bytes(bytes)));
            answer_words(&ask, &testing::run(Purpose::Main))
        };
        assert!(words(262_145).contains("a line of more than 262144 bytes"), "{}", words(262_145));
        assert!(!words(64 << 20).contains("line"), "{}", words(64 << 20));
    }

    #[test]
    fn only_the_words_and_order_of_the_rule_are_its_form() {
        let mut go = testing::go("startpos", "position startpos", 0);
        assert!(is_rule_form(&go));
        go.go = "go btime 1 wtime 1 winc 1 binc 1".into();
        assert!(!is_rule_form(&go));
        go.go = "go".into();
        assert!(!is_rule_form(&go));
    }
}
