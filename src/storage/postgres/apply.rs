//! One write that is not about games, in the transaction of its commit.

use super::db::Connection;
use super::players::WriteOutcome;
use super::{
    bot_versions, credentials, follows, forgetting, games, guests, judgements, learners, leaving,
    left_sessions, links, mails, moderation, operators, packing, players, published, pushes, puzzles, refit,
    reports, resets, studies, tournaments, vacations, voiding, webhooks,
};
use crate::storage::store::{Refused, TestOutcome, Write, Written};

/// Applies one write, or finds why it must be refused before anything of it is written.
pub(super) async fn apply(connection: &Connection, write: &Write) -> WriteOutcome {
    match write {
        Write::AddPlayer { player, password } => players::add(connection, player, password.as_deref()).await,
        Write::AddBot { bot, token, at_most } => credentials::add_bot(connection, bot, token, *at_most).await,
        Write::ReplaceGuest { old, new, idle } => guests::replace(connection, old, new, *idle).await,
        Write::SetPassword { player, password, keeps } => {
            credentials::set_password(connection, player, password, keeps.as_ref()).await
        }
        Write::Promote { player, name, password } => {
            players::promote(connection, player, name, password).await
        }
        Write::NameGuest { player, name } => players::name_guest(connection, player, name).await,
        Write::Retire { player, name } => leaving::leave(connection, player, name).await,
        Write::SetPortrait { player, portrait } => players::set_portrait(connection, player, portrait).await,
        Write::SetProfile { player, profile } => players::set_profile(connection, player, profile).await,
        Write::AddToken { token, at_most, password } => {
            credentials::add_token(connection, token, *at_most, password.as_deref()).await
        }
        Write::RotateToken { old, new } => credentials::rotate(connection, old, new).await,
        Write::RevokeTokens { player, only } => credentials::revoke(connection, player, only.as_ref()).await,
        Write::NoteUse { token, at } => credentials::note_use(connection, token, *at).await,
        // These are in runs of their own, which are asked for before.
        Write::StartGame(_) | Write::Append { .. } | Write::Finish { .. } => Ok(Err(Refused::Contradiction)),
        Write::CountIllegal { game, side, count } => {
            games::count_illegal(connection, game, *side, *count).await
        }
        Write::SetConditional { game, side, moves } => {
            games::set_conditional(connection, game, *side, moves.as_ref()).await
        }
        Write::OpenLink(link) => links::open(connection, link).await,
        Write::CloseLink(id) => links::close(connection, id).await,
        Write::StepLearner(step) => learners::step(connection, step).await,
        Write::MeasureVersion { learner, mark, decision } => {
            learners::measure(connection, learner, *mark, *decision).await
        }
        Write::MeasurePoint { learner, games, decision, at } => {
            learners::measure_point(connection, learner, *games, *decision, *at).await
        }
        Write::SetTeaching { player, teaching } => {
            learners::set_teaching(connection, player, *teaching).await
        }
        Write::WithdrawLesson { game } => learners::withdraw_game(connection, game).await,
        Write::RemakeLearner { learner, revision } => learners::remake(connection, learner, *revision).await,
        Write::PlanTournament(plan) => tournaments::plan(connection, plan).await,
        Write::EnterPlan { plan, player } => tournaments::enter(connection, plan, player).await,
        Write::LeavePlan { plan, player } => tournaments::leave(connection, plan, player).await,
        Write::DropPlan(plan) => tournaments::drop_plan(connection, plan).await,
        Write::AddTournament(tournament) => tournaments::add(connection, tournament).await,
        Write::JoinTournament { tournament, player, came } => {
            tournaments::join(connection, tournament, player, *came).await
        }
        Write::QuitTournament { tournament, player, went } => {
            tournaments::quit(connection, tournament, player, *went).await
        }
        Write::WalkOver { tournament, walkover } => {
            tournaments::walk_over(connection, tournament, *walkover).await
        }
        Write::CancelTournament { tournament, because } => {
            tournaments::cancel(connection, tournament, because.as_ref()).await
        }
        Write::EndTournament { tournament, end } => tournaments::end(connection, tournament, end).await,
        Write::VoidGame { game, because } => voiding::void(connection, game, because).await,
        Write::VoidGames { games, because } => refit::void_all(connection, games, because).await,
        Write::Refit(step) => refit::refit(connection, step).await,
        Write::ResetRating(reset) => resets::add(connection, reset).await,
        Write::TakeMeasure(measure) => moderation::take(connection, measure).await,
        Write::GiveOrder(order) => moderation::order(connection, order).await,
        Write::SetWebhook(webhook) => webhooks::set(connection, webhook).await,
        Write::RemoveWebhook { owner } => webhooks::remove(connection, owner).await,
        Write::NoteDelivery(note) => webhooks::note(connection, note).await,
        Write::SetMail(mail) => mails::set(connection, mail).await,
        Write::RemoveMail { owner } => mails::remove(connection, owner).await,
        Write::SetNotices { owner, notices } => mails::set_notices(connection, owner, *notices).await,
        Write::AddPush(push) => pushes::add(connection, push).await,
        Write::RemovePush { owner, endpoint } => pushes::remove(connection, owner, endpoint).await,
        Write::Follow(follow) => follows::follow(connection, follow).await,
        Write::Unfollow { player, followed } => follows::unfollow(connection, player, followed).await,
        Write::Block(block) => follows::block(connection, block).await,
        Write::Unblock { player, blocked } => follows::unblock(connection, player, blocked).await,
        Write::TakeVacation { player, vacation } => vacations::take(connection, player, *vacation).await,
        Write::EndVacation { player, at } => vacations::end(connection, player, *at).await,
        Write::SetLeftSessions(sessions) => left_sessions::set(connection, sessions).await,
        Write::AddMailLink(link) => mails::add_link(connection, link).await,
        Write::VerifyMail { digest, at } => mails::verify(connection, digest, *at).await,
        Write::ResetPassword { digest, password, at } => {
            mails::reset(connection, digest, password, *at).await
        }
        Write::UseFactor { player, used } => operators::use_factor(connection, player, used).await,
        Write::AddReport(report) => reports::add(connection, report).await,
        Write::HandleReport(verdict) => reports::handle(connection, verdict).await,
        Write::Publish(publication) => published::publish(connection, publication).await,
        Write::StepJudging(step) => judgements::step(connection, step).await,
        Write::Forget(forgetting) => forgetting::forget(connection, forgetting).await,
        Write::Pack(packing) => packing::pack(connection, packing).await,
        Write::AddPuzzles(harvest) => {
            puzzles::add(connection, harvest).await?;
            Ok(Ok(Written::Done))
        }
        Write::TryPuzzle(attempt) => puzzles::attempt(connection, attempt).await,
        Write::SolveDaily { player, day } => puzzles::solve_daily(connection, player, *day).await,
        Write::NoteRush(result) => puzzles::note_rush(connection, result).await,
        Write::AddStudy(new) => studies::add(connection, new).await,
        Write::ChangeStudy(change) => studies::change(connection, change).await,
        Write::DropStudy { study, owner } => studies::drop(connection, study, owner).await,
        Write::RemoveStudy { study, because } => studies::remove(connection, study, because).await,
        Write::SeeVersion { bot, version, at } => {
            bot_versions::see_version(connection, bot, version, *at).await
        }
        Write::SaveTest { bot, version, test, outcome } => {
            let passed = *outcome == TestOutcome::Passed;
            bot_versions::save_test(connection, bot, version, test, passed).await
        }
        Write::AddFault(fault) => bot_versions::add_fault(connection, fault).await,
    }
}
