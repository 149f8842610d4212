// Plays any legal column until Ctrl-C, or so many games as the first argument says, against the second if there is one.
#include "../fourfold_bot.hpp"

int main(int count, char** words) {
    fourfold::Settings settings{"random", "1"};
    if (count > 1) settings.games = std::atoi(words[1]);
    if (count > 2) settings.opponent = words[2];
    return fourfold::run(
        [](const fourfold::Turn& turn) {
            thread_local std::mt19937 random{std::random_device{}()};
            return turn.legal[random() % turn.legal.size()];
        },
        settings);
}
