import type { StockGoalState } from '#server/domain/stock-agents/index.ts';
import { silenceSeconds } from '#server/domain/verdicts/index.ts';
import type { WireCall } from './wire-call.ts';

/** A poll is noted only where no status came for longer than this, in milliseconds: a status is a sign of life too. */
const quietMs = 75_000;
/** Until when an idle agent calls again, with its minute and some, in seconds. */
const idleSeconds = 90;
/** What an agent may take for enabling a handler again, beside its longest command and what comes with that. */
const enabling = 300;
/** Of all that it waits for it says nothing, but not for longer than it waits for what others depend on. */
const longestSilence = 5_400;

/** Notes that the agent is there, where nothing else has told so lately. */
export function noteIdle({ call, guest }: WireCall): void {
  const at = call.door.clock();
  if (at.getTime() - guest.notedAt < quietMs) return;
  promise({ call, guest }, idleSeconds);
}

/** The agent is about to run commands; it says nothing until they are done. */
export function noteBusy(wire: WireCall, { extensions }: StockGoalState): void {
  wire.guest.isBusy = true;
  promise(wire, Math.min(longestSilence, silenceSeconds + enabling * extensions.length));
}

/** It says something, so no command runs: from now on it calls every few seconds. */
export function noteDone(wire: WireCall): void {
  if (!wire.guest.isBusy) return;
  wire.guest.isBusy = false;
  promise(wire, idleSeconds);
}

function promise({ call, guest }: Pick<WireCall, 'call' | 'guest'>, seconds: number): void {
  const at = call.door.clock();
  guest.notedAt = at.getTime();
  const nextExpectedAt = new Date(at.getTime() + seconds * 1_000);
  // The newest promise holds, also where an earlier one went further.
  call.door.presence.saw({ vmId: guest.vmId, at, nextExpectedAt, counter: null, hungUp: true });
}
