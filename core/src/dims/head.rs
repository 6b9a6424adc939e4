//! The head of a dim's name: a hash of its spelling, one of 64 types, by which lists are searched.
//!
//! Most pairs of different names have different heads. A head is a type without parameters, so
//! rustc compares two of them in one short step. One query for a whole list finds which of its
//! heads is the sought one. The last head is reserved for primed dims.

use super::axis::{Alike, LeftIsWild, Pairing};
use super::place::{
    Nowhere, Place, Place0, Place1, Place2, Place3, Place4, Place5, Place6, Place7,
};

/// The head of a nameless dim.
#[derive(Clone, Copy, Debug)]
pub enum HeadOfNone {}

/// Writes the trait and the heads: each asks the others its own question, "are you my head?", and
/// each answers true only to its own.
macro_rules! heads {
    ($($name:ident $seek:ident)*) => {
        /// The head of a dim's name.
        pub trait Head: 'static {
            /// The pairing of this head with `O` at the same position of two lists.
            #[doc(hidden)]
            type Facing<O: Head>: Pairing;
            /// The pairing of a `Wild` with this head.
            #[doc(hidden)]
            type FacingWild: Pairing;
            // The place of this head in a list of heads.
            #[doc(hidden)]
            type Among1<I0: Head>: Place;
            #[doc(hidden)]
            type Among2<I0: Head, I1: Head>: Place;
            #[doc(hidden)]
            type Among3<I0: Head, I1: Head, I2: Head>: Place;
            #[doc(hidden)]
            type Among4<I0: Head, I1: Head, I2: Head, I3: Head>: Place;
            #[doc(hidden)]
            type Among5<I0: Head, I1: Head, I2: Head, I3: Head, I4: Head>: Place;
            #[doc(hidden)]
            type Among6<I0: Head, I1: Head, I2: Head, I3: Head, I4: Head, I5: Head>: Place;
            #[doc(hidden)]
            type Among7<I0: Head, I1: Head, I2: Head, I3: Head, I4: Head, I5: Head, I6: Head>: Place;
            #[doc(hidden)]
            type Among8<I0: Head, I1: Head, I2: Head, I3: Head, I4: Head, I5: Head, I6: Head, I7: Head>: Place;
            $(
                #[doc(hidden)]
                type $seek<P: Place, Q: Place>: Place;
            )*
        }

        /// A head that finds itself: every head of a name.
        #[doc(hidden)]
        pub trait HeadOfName: Head + Sized + Head<Among1<Self> = Place0> {}

        impl Head for HeadOfNone {
            type Facing<O: Head> = O::FacingWild;
            type FacingWild = Alike;
            type Among1<I0: Head> = Nowhere;
            type Among2<I0: Head, I1: Head> = Nowhere;
            type Among3<I0: Head, I1: Head, I2: Head> = Nowhere;
            type Among4<I0: Head, I1: Head, I2: Head, I3: Head> = Nowhere;
            type Among5<I0: Head, I1: Head, I2: Head, I3: Head, I4: Head> = Nowhere;
            type Among6<I0: Head, I1: Head, I2: Head, I3: Head, I4: Head, I5: Head> = Nowhere;
            type Among7<I0: Head, I1: Head, I2: Head, I3: Head, I4: Head, I5: Head, I6: Head> = Nowhere;
            type Among8<I0: Head, I1: Head, I2: Head, I3: Head, I4: Head, I5: Head, I6: Head, I7: Head> = Nowhere;
            $(type $seek<P: Place, Q: Place> = Q::BesideWild;)*
        }

        heads!(@each [] $($name $seek)*);
    };
    (
        @each [$($before:ident)*]
        $name:ident $seek:ident
        $($after:ident $seek_after:ident)*
    ) => {
        #[doc(hidden)]
        #[derive(Clone, Copy, Debug)]
        pub enum $name {}

        impl Head for $name {
            type Facing<O: Head> = <O::$seek<Place0, Nowhere> as Place>::Pairing;
            type FacingWild = LeftIsWild;
            type Among1<I0: Head> =
                I0::$seek<Place0, Nowhere>;
            type Among2<I0: Head, I1: Head> =
                I0::$seek<Place0, I1::$seek<Place1, Nowhere>>;
            type Among3<I0: Head, I1: Head, I2: Head> =
                I0::$seek<Place0, I1::$seek<Place1, I2::$seek<Place2, Nowhere>>>;
            type Among4<I0: Head, I1: Head, I2: Head, I3: Head> =
                I0::$seek<Place0, I1::$seek<Place1, I2::$seek<Place2, I3::$seek<Place3, Nowhere>>>>;
            type Among5<I0: Head, I1: Head, I2: Head, I3: Head, I4: Head> =
                I0::$seek<Place0, I1::$seek<Place1, I2::$seek<Place2, I3::$seek<Place3, I4::$seek<Place4, Nowhere>>>>>;
            type Among6<I0: Head, I1: Head, I2: Head, I3: Head, I4: Head, I5: Head> =
                I0::$seek<Place0, I1::$seek<Place1, I2::$seek<Place2, I3::$seek<Place3, I4::$seek<Place4, I5::$seek<Place5, Nowhere>>>>>>;
            type Among7<I0: Head, I1: Head, I2: Head, I3: Head, I4: Head, I5: Head, I6: Head> =
                I0::$seek<Place0, I1::$seek<Place1, I2::$seek<Place2, I3::$seek<Place3, I4::$seek<Place4, I5::$seek<Place5, I6::$seek<Place6, Nowhere>>>>>>>;
            type Among8<I0: Head, I1: Head, I2: Head, I3: Head, I4: Head, I5: Head, I6: Head, I7: Head> =
                I0::$seek<Place0, I1::$seek<Place1, I2::$seek<Place2, I3::$seek<Place3, I4::$seek<Place4, I5::$seek<Place5, I6::$seek<Place6, I7::$seek<Place7, Nowhere>>>>>>>>;
            $(type $before<P: Place, Q: Place> = Q;)*
            type $seek<P: Place, Q: Place> = Q::Also<P>;
            $(type $seek_after<P: Place, Q: Place> = Q;)*
        }

        impl HeadOfName for $name {}

        heads!(@each [$($before)* $seek] $($after $seek_after)*);
    };
    (@each [$($before:ident)*]) => {};
}

heads! {
    H0 Seek0 H1 Seek1 H2 Seek2 H3 Seek3 H4 Seek4 H5 Seek5
    H6 Seek6 H7 Seek7 H8 Seek8 H9 Seek9 H10 Seek10 H11 Seek11
    H12 Seek12 H13 Seek13 H14 Seek14 H15 Seek15 H16 Seek16 H17 Seek17
    H18 Seek18 H19 Seek19 H20 Seek20 H21 Seek21 H22 Seek22 H23 Seek23
    H24 Seek24 H25 Seek25 H26 Seek26 H27 Seek27 H28 Seek28 H29 Seek29
    H30 Seek30 H31 Seek31 H32 Seek32 H33 Seek33 H34 Seek34 H35 Seek35
    H36 Seek36 H37 Seek37 H38 Seek38 H39 Seek39 H40 Seek40 H41 Seek41
    H42 Seek42 H43 Seek43 H44 Seek44 H45 Seek45 H46 Seek46 H47 Seek47
    H48 Seek48 H49 Seek49 H50 Seek50 H51 Seek51 H52 Seek52 H53 Seek53
    H54 Seek54 H55 Seek55 H56 Seek56 H57 Seek57 H58 Seek58 H59 Seek59
    H60 Seek60 H61 Seek61 H62 Seek62 H63 Seek63 H64 Seek64
}
