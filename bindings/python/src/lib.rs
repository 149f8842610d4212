//! The engine and the house bots from Python. What needs numpy is in the package around it: arrays come and go as
//! bytes here. Whatever takes time lets other Python threads run.

#![forbid(unsafe_code)]

mod batch;
mod bots;
mod position;

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

create_exception!(
    fourfold,
    Unsolved,
    PyException,
    "The limits ended the search: `lower` and `upper` hold the score, `nodes` is what it took."
);

#[pymodule]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<position::PyPosition>()?;
    module.add_class::<bots::PyBot>()?;
    module.add_function(wrap_pyfunction!(bots::bots, module)?)?;
    module.add_function(wrap_pyfunction!(position::review, module)?)?;
    module.add_function(wrap_pyfunction!(batch::solve_boards, module)?)?;
    module.add_function(wrap_pyfunction!(batch::playouts, module)?)?;
    module.add("Unsolved", module.py().get_type::<Unsolved>())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}
