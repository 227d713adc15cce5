import { and, gt, inArray, sql } from 'drizzle-orm';
import { rollouts } from '#db/schema/index.ts';
import { openStates } from '#server/domain/rollout-rules/words.ts';
import { leftToPeople, putBackSince } from '../automatic/left-to-people.ts';
import { type ChooseRules, chooseTurn, type MemberChoice } from './choose.ts';
import { loadTurnFacts, membersOf, type Turn, type TurnFacts } from './load-members.ts';
import type { Pass } from './pass.ts';
import { leftSelection } from './selection.ts';

/** A member whose turn has come, with its outcome. */
export interface ChosenTurn {
  turn: Turn;
  choice: MemberChoice;
  facts: TurnFacts | undefined;
}

/** Decides the outcome for members, in order. At most one VM of a disruption group begins. */
export async function chooseTurns(pass: Pass, turns: readonly Turn[]): Promise<ChosenTurn[]> {
  if (turns.length === 0) return [];
  const { tx, row, rules } = pass;
  const vmIds = turns.map(({ vmId }) => vmId);
  const { handler, extension } = row.definition.change;
  const { reverts } = chooseRules(pass);
  const facts = await loadTurnFacts(tx, vmIds, { tag: rules.availabilitySetTag, handler, extension, reverts });
  const left = await leftSelection(pass, vmIds);
  const superseded = await membersOf(tx, await winners(pass), vmIds);
  const putBack = await putBackSince(pass, vmIds);
  const toPeople = await leftToPeople(pass, vmIds);
  const taken = new Set<string>();
  return turns.map((turn) => {
    const found = facts.get(turn.vmId);
    const { vmId } = turn;
    const isOut = {
      hasLeft: left.has(vmId) || putBack.has(vmId),
      isSuperseded: superseded.has(vmId),
      isOthers: toPeople.has(vmId),
    };
    const choice = chooseTurn(found, isOut, chooseRules(pass), taken);
    if (choice.what === 'begin' && found?.group) taken.add(found.group);
    return { turn, choice, facts: found };
  });
}

const chooseRules = ({ row: { kind, of, definition } }: Pass): ChooseRules => ({
  silent: definition.silent,
  availabilitySets: definition.availabilitySets,
  reverts: kind === 'revert' ? of : null,
});

/** Returns the open rollouts that started later and whose start accepted the overlap with this one (RO-14). */
async function winners({ tx, row }: Pass): Promise<string[]> {
  if (row.startedAt === null) return [];
  const found = await tx
    .select({ id: rollouts.id })
    .from(rollouts)
    .where(
      and(
        inArray(rollouts.state, [...openStates]),
        gt(rollouts.startedAt, row.startedAt),
        sql`${rollouts.acceptedOverlap} @> ${JSON.stringify([row.id])}::jsonb`,
      ),
    );
  return found.map(({ id }) => id);
}
