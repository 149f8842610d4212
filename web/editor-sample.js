// turn.moves: all moves so far, columns from 1, such as "4453"; turn.legal: columns that are not full.
// Give one of turn.legal. console.log(…) prints beside the board.
function choose(turn) {
  const mine = turn.moves.length % 2;
  const columns = stones(turn.moves);
  const wins = (player) => turn.legal.find((column) => makesFour(columns, column - 1, player));
  const column = wins(mine) ?? wins(1 - mine) ?? central(turn.legal);
  console.log(`${turn.moves || "-"}: ${column}`);
  return column;
}

/** The stones of each column from the bottom: 0 of who begins, 1 of the other. */
function stones(moves) {
  const columns = Array.from({ length: 7 }, () => []);
  [...moves].forEach((digit, ply) => columns[Number(digit) - 1].push(ply % 2));
  return columns;
}

/** Whether a stone of this player in this column, from 0, completes a line of four. */
function makesFour(columns, column, player) {
  const row = columns[column].length;
  const run = (dx, dy) => {
    let length = 0;
    while (columns[column + (length + 1) * dx]?.[row + (length + 1) * dy] === player) length += 1;
    return length;
  };
  return [[1, 0], [0, 1], [1, 1], [1, -1]].some(([dx, dy]) => run(dx, dy) + run(-dx, -dy) >= 3);
}

function central(legal) {
  return [...legal].sort((a, b) => Math.abs(a - 4) - Math.abs(b - 4))[0];
}
