//! Name inference at run time, as ordinary functions on [`Names`](crate::Names).
