import type { StockGoalState } from '#server/domain/stock-agents/index.ts';
import { silenceSeconds } from '#server/domain/verdicts/index.ts';
import type { WireCall } from './wire-call.ts';

/** A poll is recorded only if no status arrived for this time, in milliseconds: a status is a sign of life too. */
const quietMs = 75_000;
/** Time within which an idle agent calls again: its minute and some tolerance, in seconds. */
const idleSeconds = 90;
/** Time for enabling a handler again, beside its longest command. */
const enabling = 300;
/** The agent is silent while it waits, at most for as long as it waits for dependencies. */
const longestSilence = 5_400;

/** Records a sighting, unless there is a recent one. */
export function noteIdle({ call, guest }: WireCall): void {
  const at = call.door.clock();
  if (at.getTime() - guest.notedAt < quietMs) return;
  promise({ call, guest }, idleSeconds);
}

/** The agent is about to run commands, and silent until they finish. */
export function noteBusy(wire: WireCall, { extensions }: StockGoalState): void {
  wire.guest.isBusy = true;
  promise(wire, Math.min(longestSilence, silenceSeconds + enabling * extensions.length));
}

/** It called, so no command is running: from now on it calls every few seconds. */
export function noteDone(wire: WireCall): void {
  if (!wire.guest.isBusy) return;
  wire.guest.isBusy = false;
  promise(wire, idleSeconds);
}

function promise({ call, guest }: Pick<WireCall, 'call' | 'guest'>, seconds: number): void {
  const at = call.door.clock();
  guest.notedAt = at.getTime();
  const nextExpectedAt = new Date(at.getTime() + seconds * 1_000);
  // The newest promise applies, even if an earlier one was longer.
  call.door.presence.saw({ vmId: guest.vmId, at, nextExpectedAt, counter: null, hungUp: true });
}
