/*
 * instant: a UCI engine for tests and benchmarks of the match runner. It answers at once, so that nearly all of a
 * game's time is the runner's, and misbehaves where its arguments say so.
 *
 * It mates where it can, and else plays a legal move drawn by the seed and the whole `position` line: the same
 * openings give the same games each time. It is in C because a test can compile it within a second by the C compiler
 * that Rust links with; Cargo builds an example only where all targets are asked for, and installs a second binary.
 *
 * Arguments, in any order; PLY counts the moves of the `position` line, and what begins there goes on. Others are
 * ignored, so that a test can mark its processes.
 *
 *   seed=N          other games
 *   crash@PLY       aborts in place of an answer
 *   exit@PLY        exits with status 3 in place of an answer
 *   hang@PLY        never answers
 *   illegal@PLY     answers a1a1
 *   null@PLY        answers 0000
 *   late@PLY:MS     answers so much later
 *   slowinit:MS     reads nothing for so long after its start
 *   twice:MS        says its move again so much later
 *   spam:N          writes so many more info lines before each answer
 *   pgncomment      says a line for the record with the number of plies before each answer
 *   ignorequit      goes on after quit, until its input ends
 *   chess960        offers UCI_Chess960, and never castles
 */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NEVER = 1 << 30, MOST_MOVES = 256 };

/* A board of ten columns and twelve rows: steps off the inner eight by eight meet a '#'. a1 is 21, h8 is 98. */
enum { NORTH = 10, EAST = 1, A1 = 21, E1 = 25, H1 = 28, A8 = 91, E8 = 95, H8 = 98 };

typedef struct {
    char at[120]; /* PNBRQK of White, pnbrqk of Black, '.', '#' */
    bool black;   /* to move */
    int king[2];  /* where they are, White's first */
    int passant;  /* the square behind a pawn that has just made two steps, or 0 */
    bool may_castle[4]; /* KQkq */
} Board;

typedef struct {
    int from, to;
    char promoted; /* q, r, b, n, or 0 */
} Move;

static const int straight[] = {NORTH, -NORTH, EAST, -EAST};
static const int diagonal[] = {NORTH + EAST, NORTH - EAST, -NORTH + EAST, -NORTH - EAST};
static const int knight[] = {21, 19, 12, 8, -8, -12, -19, -21};

static bool is_white(char piece) { return piece >= 'A' && piece <= 'Z'; }
static bool is_black(char piece) { return piece >= 'a' && piece <= 'z'; }
static bool is_of(char piece, bool black) { return black ? is_black(piece) : is_white(piece); }
static char kind(char piece) { return piece | 0x20; }
static char colored(char letter, bool black) { return black ? letter | 0x20 : letter & ~0x20; }

/* Whether a line from a square along these four directions first meets one of two pieces. */
static bool slides_to(const Board *board, int square, const int *directions, char one, char other) {
    for (int i = 0; i < 4; i++) {
        int at = square + directions[i];
        while (board->at[at] == '.') {
            at += directions[i];
        }
        if (board->at[at] == one || board->at[at] == other) {
            return true;
        }
    }
    return false;
}

static bool is_attacked(const Board *board, int square, bool by_black) {
    char queen = colored('q', by_black), king = colored('k', by_black);
    for (int i = 0; i < 8; i++) {
        int near = square + (i < 4 ? straight[i] : diagonal[i - 4]);
        if (board->at[square + knight[i]] == colored('n', by_black) || board->at[near] == king) {
            return true;
        }
    }
    int below = by_black ? square + NORTH : square - NORTH; /* where an attacking pawn stands beside */
    char pawn = colored('p', by_black);
    return board->at[below - EAST] == pawn || board->at[below + EAST] == pawn ||
           slides_to(board, square, straight, colored('r', by_black), queen) ||
           slides_to(board, square, diagonal, colored('b', by_black), queen);
}

static bool in_check(const Board *board, bool black) {
    return is_attacked(board, board->king[black], !black);
}

static void touch(Board *board, int square) {
    switch (square) {
    case E1: board->may_castle[0] = board->may_castle[1] = false; break;
    case H1: board->may_castle[0] = false; break;
    case A1: board->may_castle[1] = false; break;
    case E8: board->may_castle[2] = board->may_castle[3] = false; break;
    case H8: board->may_castle[2] = false; break;
    case A8: board->may_castle[3] = false; break;
    }
}

static void shift(Board *board, int from, int to) {
    board->at[to] = board->at[from];
    board->at[from] = '.';
}

static void play(Board *board, Move move) {
    char piece = kind(board->at[move.from]);
    int forward = board->black ? -NORTH : NORTH;
    if (piece == 'p' && move.to == board->passant) {
        board->at[move.to - forward] = '.';
    }
    board->passant = piece == 'p' && move.to - move.from == 2 * forward ? move.from + forward : 0;
    if (piece == 'k') {
        board->king[board->black] = move.to;
        if (move.to == move.from + 2) {
            shift(board, move.from + 3, move.from + 1);
        } else if (move.to == move.from - 2) {
            shift(board, move.from - 4, move.from - 1);
        }
    }
    shift(board, move.from, move.to);
    if (move.promoted) {
        board->at[move.to] = colored(move.promoted, board->black);
    }
    touch(board, move.from);
    touch(board, move.to);
    board->black = !board->black;
}

typedef struct {
    Move of[MOST_MOVES];
    int count;
} Moves;

static void add(Moves *moves, int from, int to, char promoted) {
    moves->of[moves->count++] = (Move){from, to, promoted};
}

static void add_pawn(Moves *moves, int from, int to) {
    if (to < A1 + NORTH || to >= A8) {
        for (const char *piece = "qrbn"; *piece; piece++) {
            add(moves, from, to, *piece);
        }
    } else {
        add(moves, from, to, 0);
    }
}

static void pawn_moves(const Board *board, Moves *moves, int from) {
    int forward = board->black ? -NORTH : NORTH;
    int to = from + forward;
    bool at_home = board->black ? from >= A8 - NORTH : from < A1 + 2 * NORTH;
    if (board->at[to] == '.') {
        add_pawn(moves, from, to);
        if (at_home && board->at[to + forward] == '.') {
            add(moves, from, to + forward, 0);
        }
    }
    for (int side = -EAST; side <= EAST; side += 2 * EAST) {
        if (is_of(board->at[to + side], !board->black) || (board->passant && to + side == board->passant)) {
            add_pawn(moves, from, to + side);
        }
    }
}

static void piece_moves(const Board *board, Moves *moves, int from, const int *steps, int count, bool far) {
    for (int i = 0; i < count; i++) {
        int to = from + steps[i];
        while (far && board->at[to] == '.') {
            add(moves, from, to, 0);
            to += steps[i];
        }
        if (board->at[to] == '.' || is_of(board->at[to], !board->black)) {
            add(moves, from, to, 0);
        }
    }
}

static void castling_moves(const Board *board, Moves *moves) {
    int king = board->black ? E8 : E1;
    const bool *may = board->may_castle + (board->black ? 2 : 0);
    if (!(may[0] || may[1]) || in_check(board, board->black)) {
        return;
    }
    /* That the king is safe where it arrives is asked of every move. */
    if (may[0] && !memcmp(board->at + king + 1, "..", 2) && !is_attacked(board, king + 1, !board->black)) {
        add(moves, king, king + 2, 0);
    }
    if (may[1] && !memcmp(board->at + king - 3, "...", 3) && !is_attacked(board, king - 1, !board->black)) {
        add(moves, king, king - 2, 0);
    }
}

static bool is_legal(const Board *board, Move move, Board *after) {
    *after = *board;
    play(after, move);
    return !in_check(after, board->black);
}

/* Moves as the pieces go; some may leave the king in check. */
static void all_moves(const Board *board, Moves *moves) {
    moves->count = 0;
    for (int from = A1; from <= H8; from++) {
        if (!is_of(board->at[from], board->black)) {
            continue;
        }
        switch (kind(board->at[from])) {
        case 'p': pawn_moves(board, moves, from); break;
        case 'n': piece_moves(board, moves, from, knight, 8, false); break;
        case 'b': piece_moves(board, moves, from, diagonal, 4, true); break;
        case 'r': piece_moves(board, moves, from, straight, 4, true); break;
        default: {
            bool far = kind(board->at[from]) == 'q';
            piece_moves(board, moves, from, straight, 4, far);
            piece_moves(board, moves, from, diagonal, 4, far);
        }
        }
    }
    castling_moves(board, moves);
}

static bool is_mated(const Board *board) {
    if (!in_check(board, board->black)) {
        return false;
    }
    Moves moves;
    Board after;
    all_moves(board, &moves);
    for (int i = 0; i < moves.count; i++) {
        if (is_legal(board, moves.of[i], &after)) {
            return false;
        }
    }
    return true;
}

/* A mate, or a move by chance; false where there is none. */
static bool choose(const Board *board, uint64_t chance, Move *chosen, int *choices) {
    Moves moves;
    Board after;
    int legal = 0;
    all_moves(board, &moves);
    for (int i = 0; i < moves.count; i++) {
        if (!is_legal(board, moves.of[i], &after)) {
            continue;
        }
        moves.of[legal++] = moves.of[i];
        if (is_mated(&after)) {
            *chosen = moves.of[i];
            *choices = 1;
            return true;
        }
    }
    if (legal > 0) {
        *chosen = moves.of[chance % (uint64_t)legal];
    }
    *choices = legal;
    return legal > 0;
}

static struct {
    int seed, crash, leave, hang, illegal, null, late, delay, slow, spam, twice;
    bool ignores_quit, chess960, tells;
} ask = {.seed = 1, NEVER, NEVER, NEVER, NEVER, NEVER, NEVER};

static int square_of(const char *name) { return A1 + (name[0] - 'a') * EAST + (name[1] - '1') * NORTH; }

static void set_up(Board *board, const char *fen) {
    memset(board, 0, sizeof *board);
    memset(board->at, '#', sizeof board->at);
    int square = A8;
    for (; *fen && *fen != ' '; fen++) {
        if (*fen == '/') {
            square -= NORTH + 8;
        } else if (*fen >= '1' && *fen <= '8') {
            memset(board->at + square, '.', *fen - '0');
            square += *fen - '0';
        } else {
            if (kind(*fen) == 'k') {
                board->king[is_black(*fen)] = square;
            }
            board->at[square++] = *fen;
        }
    }
    char side = 'w', castling[8] = "-", passant[8] = "-";
    sscanf(fen, " %c %7s %7s", &side, castling, passant);
    board->black = side == 'b';
    for (int i = 0; i < 4; i++) {
        board->may_castle[i] = !ask.chess960 && strchr(castling, "KQkq"[i]) != NULL;
    }
    if (passant[0] != '-') {
        board->passant = square_of(passant);
    }
}

/* The position of a `position` line; returns how many moves it has. */
static int follow(Board *board, const char *line) {
    const char *fen = strstr(line, " fen "), *moves = strstr(line, " moves ");
    set_up(board, fen ? fen + 5 : "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1");
    int plies = 0;
    const char *word = moves ? moves + 7 : "";
    while (*word >= 'a') {
        Move move = {square_of(word), square_of(word + 2), word[4] >= 'a' ? word[4] : 0};
        play(board, move);
        plies++;
        word += move.promoted ? 5 : 4;
        word += strspn(word, " ");
    }
    return plies;
}

/* FNV-1a over a line, its bits then mixed so that the lowest depend on all. */
static uint64_t chance_of(const char *line, uint64_t seed) {
    uint64_t sum = 0xcbf29ce484222325u ^ seed * 0x9e3779b97f4a7c15u;
    for (; *line; line++) {
        sum = (sum ^ (unsigned char)*line) * 0x100000001b3u;
    }
    sum ^= sum >> 32;
    sum *= 0xd6e8feb86659fd93u;
    return sum ^ sum >> 32;
}

static void read_arguments(int count, char **words) {
    for (int i = 1; i < count; i++) {
        sscanf(words[i], "seed=%d", &ask.seed);
        sscanf(words[i], "crash@%d", &ask.crash);
        sscanf(words[i], "exit@%d", &ask.leave);
        sscanf(words[i], "hang@%d", &ask.hang);
        sscanf(words[i], "illegal@%d", &ask.illegal);
        sscanf(words[i], "null@%d", &ask.null);
        sscanf(words[i], "late@%d:%d", &ask.late, &ask.delay);
        sscanf(words[i], "slowinit:%d", &ask.slow);
        sscanf(words[i], "spam:%d", &ask.spam);
        sscanf(words[i], "twice:%d", &ask.twice);
        ask.tells |= !strcmp(words[i], "pgncomment");
        ask.ignores_quit |= !strcmp(words[i], "ignorequit");
        ask.chess960 |= !strcmp(words[i], "chess960");
    }
}

static void answer(const Board *board, int plies, uint64_t chance) {
    if (plies >= ask.crash) {
        abort();
    }
    if (plies >= ask.leave) {
        exit(3);
    }
    while (plies >= ask.hang) {
        pause();
    }
    if (plies >= ask.late) {
        usleep(1000 * ask.delay);
    }
    Move move;
    int choices;
    char text[8] = "0000";
    if (choose(board, chance, &move, &choices)) {
        int from = move.from - A1, to = move.to - A1;
        snprintf(text, sizeof text, "%c%c%c%c%c", 'a' + from % NORTH, '1' + from / NORTH, 'a' + to % NORTH,
                 '1' + to / NORTH, move.promoted);
    }
    for (int i = 0; i < ask.spam; i++) {
        printf("info depth %d seldepth %d score cp %d nodes %d nps 1000000 time %d pv %s\n", i + 2, i + 4,
               (int)(chance % 99), 1000 * i, i, text);
        fflush(stdout);
    }
    if (ask.tells) {
        printf("info string pgncomment \"plies\" %d\n", plies);
    }
    const char *said = plies >= ask.null ? "0000" : plies >= ask.illegal ? "a1a1" : text;
    if (ask.twice > 0) {
        printf("bestmove %s\n", said);
        fflush(stdout);
        usleep(1000 * ask.twice);
    }
    printf("info depth 1 score cp %d nodes %d time 0 pv %s\nbestmove %s\n", (int)(chance % 61) - 30, choices, text,
           said);
}

int main(int count, char **words) {
    read_arguments(count, words);
    usleep(1000 * ask.slow);
    Board board;
    set_up(&board, "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1");
    int plies = 0;
    uint64_t chance = chance_of("", (uint64_t)ask.seed);
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) {
        line[strcspn(line, "\r\n")] = 0;
        if (!strncmp(line, "position ", 9)) {
            plies = follow(&board, line);
            chance = chance_of(line, (uint64_t)ask.seed);
        } else if (!strcmp(line, "go") || !strncmp(line, "go ", 3)) {
            answer(&board, plies, chance);
        } else if (!strcmp(line, "isready")) {
            puts("readyok");
        } else if (!strcmp(line, "uci")) {
            puts("id name instant\nid author gate4k\noption name Hash type spin default 1 min 1 max 1024");
            puts(ask.chess960 ? "option name UCI_Chess960 type check default false\nuciok" : "uciok");
        } else if (!strcmp(line, "quit") && !ask.ignores_quit) {
            return 0;
        }
        fflush(stdout);
    }
    return 0;
}
