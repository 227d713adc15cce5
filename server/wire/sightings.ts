import type { StockGoalState } from '#server/domain/stock-agents/index.ts';
import { silenceSeconds } from '#server/domain/verdicts/index.ts';
import type { WireCall } from './wire-call.ts';

/**
 * A poll is recorded only if the last sighting is older than this, in milliseconds. A newer sighting already shows that
 * the agent is alive.
 */
const quietMs = 75_000;
/**
 * Seconds within which the next sighting of an idle agent is expected. Longer than `quietMs`, because polls within that
 * time are not recorded.
 */
const idleSeconds = 90;
/** Seconds to add for each extension, because the agent enables it again. */
const enabling = 300;
/** Maximum seconds without a call. The agent may wait this long for dependencies. */
const longestSilence = 5_400;

/** Records a sighting, unless there is a recent one. */
export function noteIdle({ call, guest }: WireCall): void {
  const at = call.door.clock();
  if (at.getTime() - guest.notedAt < quietMs) return;
  promise({ call, guest }, idleSeconds);
}

/** Records that the agent is about to run commands and will not call until they finish. */
export function noteBusy(wire: WireCall, { extensions }: StockGoalState): void {
  wire.guest.isBusy = true;
  promise(wire, Math.min(longestSilence, silenceSeconds + enabling * extensions.length));
}

/** Records that the agent has uploaded a status, so its commands have finished. */
export function noteDone(wire: WireCall): void {
  if (!wire.guest.isBusy) return;
  wire.guest.isBusy = false;
  promise(wire, idleSeconds);
}

function promise({ call, guest }: Pick<WireCall, 'call' | 'guest'>, seconds: number): void {
  const at = call.door.clock();
  guest.notedAt = at.getTime();
  const nextExpectedAt = new Date(at.getTime() + seconds * 1_000);
  // `hungUp` makes this time apply even if an earlier sighting expects the next call later.
  call.door.presence.saw({ vmId: guest.vmId, at, nextExpectedAt, counter: null, hungUp: true });
}
