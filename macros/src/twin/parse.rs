//! The parts of a method, found among its tokens. No syntax tree is built: there are a thousand
//! such methods, and only the ends of their bodies matter.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};

/// A method that returns `Result`.
pub struct Method {
    /// The texts of its doc comments, with their tokens.
    pub docs: Vec<(String, TokenTree)>,
    /// Its other attributes.
    pub attributes: TokenStream,
    /// The tokens from the visibility to `fn`.
    pub head: TokenStream,
    pub name: Ident,
    /// The generic parameters, with their brackets.
    pub generics: TokenStream,
    /// The declared types and constants, without lifetimes, to be passed on.
    pub given_types: Vec<Ident>,
    pub parameters: Vec<Parameter>,
    /// The type in the `Result`.
    pub result: TokenStream,
    /// The tokens from `where` to the body.
    pub bounds: TokenStream,
    pub body: Group,
}

/// A parameter.
#[derive(Clone)]
pub struct Parameter {
    pub name: Ident,
    tokens: Vec<TokenTree>,
}

impl Parameter {
    /// Returns the whole parameter.
    pub fn written(&self) -> TokenStream {
        self.tokens.iter().cloned().collect()
    }

    /// Returns the parameter with the type in its `Option`.
    pub fn in_option(&self) -> Option<Self> {
        Some(Self {
            name: self.name.clone(),
            tokens: in_option(&self.tokens)?,
        })
    }

    /// Returns the parameter without a leading `mut`.
    pub fn unchanged(&self) -> TokenStream {
        let changes = self
            .tokens
            .first()
            .is_some_and(|word| is_ident(word, "mut"));
        self.tokens
            .iter()
            .skip(usize::from(changes))
            .cloned()
            .collect()
    }
}

impl Method {
    /// Returns whether the method takes `self`.
    pub fn takes_self(&self) -> bool {
        self.parameters
            .first()
            .is_some_and(|first| first.name == "self")
    }
}

/// Returns the tokens of a type in an `Option`, with the tokens before it.
fn in_option(tokens: &[TokenTree]) -> Option<Vec<TokenTree>> {
    let at = tokens
        .iter()
        .position(|token| matches!(token, TokenTree::Ident(word) if word == "Option"))?;
    let (before, behind) = tokens.split_at(at);
    let inner = behind.get(2..behind.len().checked_sub(1)?)?;
    Some(before.iter().chain(inner).cloned().collect())
}

fn error<V>(at: impl quote::ToTokens, message: &str) -> syn::Result<V> {
    Err(syn::Error::new_spanned(at, message))
}

/// Tokens, with the position of the next one.
struct Cursor {
    tokens: Vec<TokenTree>,
    at: usize,
}

impl Cursor {
    fn new(tokens: TokenStream) -> Self {
        let tokens = tokens.into_iter().collect();
        Self { tokens, at: 0 }
    }

    fn rest(&self) -> &[TokenTree] {
        &self.tokens[self.at..]
    }

    /// Takes the next token, if it is the wanted one.
    fn take(&mut self, wanted: impl Fn(&TokenTree) -> bool) -> Option<TokenTree> {
        let token = self.rest().first().filter(|token| wanted(token))?.clone();
        self.at += 1;
        Some(token)
    }

    /// Takes the tokens up to a wanted one outside of angle brackets.
    fn until(&mut self, wanted: impl Fn(&TokenTree) -> bool) -> Vec<TokenTree> {
        let from = self.at;
        let mut depth = 0_i32;
        while let Some(token) = self.tokens.get(self.at) {
            if depth == 0 && wanted(token) {
                break;
            }
            let arrow = self.at > 0 && is_punct(&self.tokens[self.at - 1], '-');
            match token {
                _ if is_punct(token, '<') => depth += 1,
                _ if is_punct(token, '>') && !arrow => depth -= 1,
                _ => {}
            }
            self.at += 1;
        }
        self.tokens[from..self.at].to_vec()
    }
}

/// Returns whether a token is this sign.
pub fn is_punct(token: &TokenTree, sign: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == sign)
}

/// Returns whether a token is this word.
pub fn is_ident(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if ident == word)
}

/// Returns the token's group, if it has these brackets.
pub fn group(token: &TokenTree, brackets: Delimiter) -> Option<&Group> {
    match token {
        TokenTree::Group(group) if group.delimiter() == brackets => Some(group),
        _ => None,
    }
}

/// Flattens the groups around fragments of other macros.
fn flat(tokens: TokenStream) -> TokenStream {
    let parts = tokens
        .into_iter()
        .map(|token| match group(&token, Delimiter::None) {
            Some(group) => flat(group.stream()),
            None => token.into(),
        });
    parts.collect()
}

/// Parses a method.
pub fn method(tokens: TokenStream) -> syn::Result<Method> {
    const NO_METHOD: &str =
        "this attribute belongs on a method: `pub fn try_name(&self) -> Result<R>`";
    let whole = tokens.clone();
    let mut cursor = Cursor::new(flat(tokens));
    let (docs, attributes) = attributes(&mut cursor)?;
    let mut head = cursor.until(|token| is_ident(token, "fn"));
    let (Some(word), Some(TokenTree::Ident(name))) = (
        cursor.take(|token| is_ident(token, "fn")),
        cursor.take(|token| matches!(token, TokenTree::Ident(_))),
    ) else {
        return error(whole, NO_METHOD);
    };
    head.push(word);
    let round = |token: &TokenTree| group(token, Delimiter::Parenthesis).is_some();
    let generics = cursor.until(round);
    let Some(TokenTree::Group(parameters)) = cursor.take(round) else {
        return error(whole, NO_METHOD);
    };
    let body = |token: &TokenTree| group(token, Delimiter::Brace).is_some();
    let returned = cursor.until(|token| is_ident(token, "where") || body(token));
    let bounds = cursor.until(body);
    let Some(TokenTree::Group(body)) = cursor.take(body) else {
        return error(whole, NO_METHOD);
    };
    Ok(Method {
        docs,
        attributes,
        head: head.into_iter().collect(),
        given_types: types(&generics),
        generics: generics.into_iter().collect(),
        parameters: parameters_of(parameters.stream())?,
        result: result(returned, &name)?,
        name,
        bounds: bounds.into_iter().collect(),
        body,
    })
}

/// Parses doc comments and the other attributes before the method.
fn attributes(cursor: &mut Cursor) -> syn::Result<(Vec<(String, TokenTree)>, TokenStream)> {
    let (mut docs, mut others) = (Vec::new(), TokenStream::new());
    while let Some(sign) = cursor.take(|token| is_punct(token, '#')) {
        let Some(attribute) = cursor.take(|token| group(token, Delimiter::Bracket).is_some())
        else {
            break;
        };
        match doc(&attribute)? {
            Some(line) => docs.push(line),
            None => others.extend([sign, attribute]),
        }
    }
    Ok((docs, others))
}

/// Returns the text of `[doc = "text"]`.
fn doc(attribute: &TokenTree) -> syn::Result<Option<(String, TokenTree)>> {
    let Some(attribute) = group(attribute, Delimiter::Bracket) else {
        return Ok(None);
    };
    let mut tokens = flat(attribute.stream()).into_iter();
    let doc = tokens.next().is_some_and(|token| is_ident(&token, "doc"));
    if !doc || !tokens.next().is_some_and(|token| is_punct(&token, '=')) {
        return Ok(None);
    }
    if let Some(token) = tokens.next()
        && let TokenTree::Literal(literal) = &token
        && let syn::Lit::Str(text) = syn::Lit::new(literal.clone())
    {
        return Ok(Some((text.value(), token)));
    }
    error(
        attribute,
        "a method with this attribute needs literal docs: a macro there is not yet expanded",
    )
}

/// Splits tokens at commas outside of angle brackets.
fn parts(tokens: impl IntoIterator<Item = TokenTree>) -> Vec<Vec<TokenTree>> {
    let mut cursor = Cursor::new(tokens.into_iter().collect());
    let mut found = Vec::new();
    while !cursor.rest().is_empty() {
        found.push(cursor.until(|token| is_punct(token, ',')));
        cursor.take(|token| is_punct(token, ','));
    }
    found
}

/// Returns the types and constants among generic parameters.
fn types(generics: &[TokenTree]) -> Vec<Ident> {
    let Some((_, inner)) = generics.split_first() else {
        return Vec::new();
    };
    let inner = &inner[..inner.len().saturating_sub(1)];
    parts(inner.iter().cloned())
        .into_iter()
        .filter_map(|part| {
            let mut tokens = part.into_iter();
            match tokens.next()? {
                TokenTree::Ident(word) if word == "const" => tokens.next(),
                first => Some(first),
            }
        })
        .filter_map(|token| match token {
            TokenTree::Ident(name) => Some(name),
            _ => None,
        })
        .collect()
}

fn parameters_of(tokens: TokenStream) -> syn::Result<Vec<Parameter>> {
    parts(tokens).into_iter().map(parameter).collect()
}

fn parameter(tokens: Vec<TokenTree>) -> syn::Result<Parameter> {
    let colon = tokens
        .iter()
        .position(|token| is_punct(token, ':'))
        .unwrap_or(tokens.len());
    let name = tokens[..colon].iter().find(|token| is_ident(token, "self"));
    let name = name.or_else(|| match &tokens[..colon] {
        [name] => Some(name),
        [word, name] if is_ident(word, "mut") => Some(name),
        _ => None,
    });
    match name {
        Some(TokenTree::Ident(name)) if name != "_" => Ok(Parameter {
            name: name.clone(),
            tokens,
        }),
        _ => error(
            tokens.into_iter().collect::<TokenStream>(),
            "a method with this attribute forwards its arguments: give this one a name, and take it apart in the body",
        ),
    }
}

/// Returns the type in `-> Result<…>`.
fn result(tokens: Vec<TokenTree>, name: &Ident) -> syn::Result<TokenStream> {
    let stem = name.to_string();
    let message = format!("`{stem}` cannot fail: a method with this attribute returns `Result<R>`");
    let opens = tokens
        .iter()
        .position(|token| is_punct(token, '<'))
        .filter(|&at| at > 0 && is_ident(&tokens[at - 1], "Result"));
    let Some(opens) = opens.filter(|_| tokens.last().is_some_and(|last| is_punct(last, '>')))
    else {
        return error(name, &message);
    };
    let inner = &tokens[opens + 1..tokens.len() - 1];
    match parts(inner.iter().cloned()).len() {
        1 => Ok(inner.iter().cloned().collect()),
        _ => error(
            inner.iter().cloned().collect::<TokenStream>(),
            "a method with this attribute returns this crate's error: `Result<R>`",
        ),
    }
}
