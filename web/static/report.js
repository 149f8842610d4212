// Reports somebody to the operators. A button with `data-report`, the names of those whom it may be about with spaces
// between them, opens the dialog, which hardly anybody needs: it is asked for then. `data-game` names the game that it is
// about.

document.addEventListener("click", async (event) => {
  const button = event.target instanceof Element ? event.target.closest("[data-report]") : null;
  if (!(button instanceof HTMLElement)) return;
  const { openReport } = await import("./report-dialog.js");
  openReport((button.dataset.report ?? "").split(" "), button.dataset.game);
});

export {};
