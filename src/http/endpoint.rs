//! A route together with its description: what is not described here is not served.

use axum::Router;
use axum::routing::MethodRouter;
use schemars::{JsonSchema, Schema, SchemaGenerator};

use super::error::ApiCode;
use super::state::AppState;

/// Makes the schema of one type.
pub(super) type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// The schema of `T`, as a reference into the document's components.
pub(super) fn schema_of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// What is done to what the path names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Verb {
    Get,
    Post,
    Put,
    Delete,
}

impl Verb {
    /// As it stands in an OpenAPI document.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Post => "post",
            Self::Put => "put",
            Self::Delete => "delete",
        }
    }
}

/// Who may ask.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Access {
    /// Everybody.
    Everybody,
    /// People with an account.
    SignedIn,
}

/// What the body of an answer is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Content {
    /// There is none.
    Nothing,
    /// A JSON document.
    Json(SchemaOf),
    /// One JSON object a line.
    Lines(SchemaOf),
    /// Lines of fields with tabs between them.
    Table,
    /// Lines of fields with commas between them.
    Csv,
    /// A picture.
    Svg,
    /// A picture in pixels.
    Png,
    /// One that moves.
    Gif,
    /// A JSON document that describes documents.
    Document,
}

/// A query parameter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parameter {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) schema: SchemaOf,
}

/// What one method on one path does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operation {
    pub(super) verb: Verb,
    /// As documented; a route may serve several, such as `…/{id}` and `…/{id}.svg`.
    pub(super) path: &'static str,
    pub(super) summary: &'static str,
    pub(super) access: Access,
    pub(super) parameters: &'static [Parameter],
    pub(super) body: Option<SchemaOf>,
    pub(super) status: u16,
    pub(super) content: Content,
    pub(super) refusals: &'static [ApiCode],
}

impl Operation {
    /// Reads something that everybody may see.
    pub(super) const fn get(path: &'static str, summary: &'static str, content: Content) -> Self {
        Self {
            verb: Verb::Get,
            path,
            summary,
            access: Access::Everybody,
            parameters: &[],
            body: None,
            status: 200,
            content,
            refusals: &[],
        }
    }

    /// Makes something.
    pub(super) const fn post(path: &'static str, summary: &'static str, content: Content) -> Self {
        Self { verb: Verb::Post, status: 201, ..Self::get(path, summary, content) }
    }

    /// Changes something.
    pub(super) const fn put(path: &'static str, summary: &'static str, content: Content) -> Self {
        Self { verb: Verb::Put, ..Self::get(path, summary, content) }
    }

    /// Ends something.
    pub(super) const fn delete(path: &'static str, summary: &'static str, content: Content) -> Self {
        Self { verb: Verb::Delete, ..Self::get(path, summary, content) }
    }

    /// With query parameters, which may be refused.
    pub(super) const fn parameters(self, parameters: &'static [Parameter]) -> Self {
        Self { parameters, ..self }
    }

    /// With a JSON body.
    pub(super) const fn body(self, body: SchemaOf) -> Self {
        Self { body: Some(body), ..self }
    }

    /// With another status than usual.
    pub(super) const fn status(self, status: u16) -> Self {
        Self { status, ..self }
    }

    /// For people who signed in only.
    pub(super) const fn signed_in(self) -> Self {
        Self { access: Access::SignedIn, ..self }
    }

    /// With refusals beside those that follow from parameters, body and access.
    pub(super) const fn refusals(self, refusals: &'static [ApiCode]) -> Self {
        Self { refusals, ..self }
    }
}

/// A route: its pattern, its handlers, and what they do.
#[derive(Clone, Debug)]
pub(super) struct Endpoint {
    pub(super) route: &'static str,
    pub(super) handlers: MethodRouter<AppState>,
    pub(super) operations: Vec<Operation>,
}

impl Endpoint {
    pub(super) fn new(
        route: &'static str,
        handlers: MethodRouter<AppState>,
        operations: impl Into<Vec<Operation>>,
    ) -> Self {
        Self { route, handlers, operations: operations.into() }
    }
}

/// A router of all of them.
pub(super) fn routes(endpoints: Vec<Endpoint>) -> Router<AppState> {
    endpoints
        .into_iter()
        .fold(Router::new(), |router, endpoint| router.route(endpoint.route, endpoint.handlers))
}
