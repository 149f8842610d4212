// Plays any legal column until Ctrl-C, or so many games as the first argument says, against the second if there is one.
package main

import (
	"fmt"
	"math/rand"
	"os"
	"strconv"

	"fourfold"
)

func main() {
	settings := fourfold.Settings{Name: "random", Version: "1"}
	if len(os.Args) > 1 {
		settings.Games, _ = strconv.Atoi(os.Args[1])
	}
	if len(os.Args) > 2 {
		settings.Opponent = os.Args[2]
	}
	choose := func(turn fourfold.Turn) int { return turn.Legal[rand.Intn(len(turn.Legal))] }
	if err := fourfold.Run(choose, settings); err != nil {
		fmt.Fprintln(os.Stderr, "fourfold:", err)
		os.Exit(1)
	}
}
