//! Enums that know the list of their variants.

/// Defines an enum with `ALL`, its variants in their order. Where each variant has a word, `word` and `named` lead from one to the other,
/// and serde has the same words.
macro_rules! listed_enum {
    ($(#[$meta:meta])* $vis:vis enum $name:ident {
        $($(#[$about:meta])* $variant:ident => $word:literal,)+
    }) => {
        listed_enum! {
            $(#[$meta])*
            $vis enum $name { $($(#[$about])* #[serde(rename = $word)] $variant,)+ }
        }

        impl $name {
            /// The word in reports, in JSON and on the command line.
            $vis fn word(self) -> &'static str {
                match self { $($name::$variant => $word,)+ }
            }

            /// The variant of a word.
            pub(crate) fn named(word: &str) -> Option<$name> {
                $name::ALL.into_iter().find(|one| one.word() == word)
            }
        }
    };
    ($(#[$meta:meta])* $vis:vis enum $name:ident {
        $($(#[$about:meta])* $variant:ident $(= $number:literal)?,)+
    }) => {
        $(#[$meta])*
        $vis enum $name { $($(#[$about])* $variant $(= $number)?,)+ }

        impl $name {
            /// All variants, in their order.
            $vis const ALL: [$name; [$(stringify!($variant)),+].len()] = [$($name::$variant),+];
        }
    };
}
pub(crate) use listed_enum;
