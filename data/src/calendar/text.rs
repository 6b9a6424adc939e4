//! Times as text.

/// Parses a time, and returns its parts and the number of those that the text has.
pub(super) fn parse_parts(text: &str) -> Option<([i64; 7], usize)> {
    let text = text.trim();
    let (negative, body) = match text.strip_prefix('-') {
        Some(body) => (true, body),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (date, clock) = match body.split_once(['T', 't', ' ']) {
        Some((date, clock)) => (date, Some(clock.trim())),
        None => (body, None),
    };
    let mut parts = [0, 1, 1, 0, 0, 0, 0];
    let mut known = 0;
    for word in date.split('-') {
        *parts.get_mut(known).filter(|_| known < 3)? = digits(word)?;
        known += 1;
    }
    if negative {
        parts[0] = -parts[0];
    }
    let Some(clock) = clock.filter(|clock| !clock.is_empty()) else {
        return Some((parts, known));
    };
    (known == 3).then_some(())?;
    for word in clock.split(':') {
        let (word, fraction) = match word.split_once('.') {
            Some((word, fraction)) => (word, Some(fraction)),
            None => (word, None),
        };
        *parts.get_mut(known).filter(|_| known < 6)? = digits(word)?;
        known += 1;
        if let Some(fraction) = fraction {
            (known == 6).then_some(())?;
            let all = fraction.bytes().all(|byte| byte.is_ascii_digit());
            let padded: String = fraction.chars().chain("000000".chars()).take(6).collect();
            parts[6] = padded.parse().ok().filter(|_| all)?;
            if parts[6] != 0 {
                known += 1;
            }
        }
    }
    Some((parts, known))
}

fn digits(word: &str) -> Option<i64> {
    let plain =
        !word.is_empty() && word.len() < 8 && word.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| word.parse().ok()).flatten()
}

/// Splits a time zone off a time. Returns its offset in minutes, or `None` if it is none.
pub(super) fn split_offset(text: &str) -> (&str, Option<i64>) {
    let text = text.trim();
    for zone in ["UTC", "GMT", "Z", "z"] {
        if let Some(time) = text.strip_suffix(zone) {
            return (time.trim(), Some(0));
        }
    }
    // An offset follows a clock; the signs before are those of the date.
    let clock = text.find(':').unwrap_or(text.len());
    let spaced = text
        .match_indices([' ', 'T'])
        .nth(1)
        .map_or(text.len(), |(at, _)| at);
    let sign = text
        .char_indices()
        .find(|&(at, sign)| (at > clock || at > spaced) && (sign == '+' || sign == '-'));
    let Some((at, sign)) = sign else {
        return (text, Some(0));
    };
    let zone = &text[at + 1..];
    let (hours, minutes) = match zone.split_once(':') {
        Some((hours, minutes)) => (hours, minutes),
        None if zone.len() > 2 => zone.split_at(zone.len() - 2),
        None => (zone, "0"),
    };
    let minutes = digits(hours).zip(digits(minutes)).map(|(h, m)| h * 60 + m);
    let signed = minutes.map(|m| if sign == '-' { -m } else { m });
    (text[..at].trim(), signed)
}
