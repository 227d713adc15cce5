import { compareVersions, parseVersion } from '#protocol/index.ts';
import type { ExtensionRow, Preview } from '#server/domain/goal-states/index.ts';
import {
  endedStates,
  type RolloutState,
  type StepState,
  type VersionHold,
} from '#server/domain/rollout-rules/words.ts';
import type { RolloutReference, VersionHoldView } from './answers.ts';

/** A version that is newer than the extension's. */
export interface NewerVersion {
  version: string;
  state: 'published' | 'withdrawn';
  publishedAt: string | null;
}

/** The place of the VM in a rollout; `state` is null if the VM is not a member, or not yet. */
export interface PlaceIn {
  rollout: RolloutReference;
  state: 'queued' | StepState | null;
  cause: string | null;
}

/** What decides which versions an extension gets automatically. */
export interface HoldFacts {
  /** The highest published version with the extension's first number, if it is newer. */
  target: string | null;
  /** The rollouts after which the VM was reverted, by version. */
  putBack: ReadonlyMap<string, RolloutReference>;
  /** What the upgrade to the target would do. */
  preview: Preview | null;
  /** The open rollout of a person that changes the extension. */
  other: PlaceIn | null;
  /** The latest automatic rollout of the target. */
  automatic: (PlaceIn & { isSuperseded: boolean }) | null;
}

/** Returns what keeps an extension from a newer version; null if nothing does. */
export function heldBy(row: ExtensionRow, candidate: NewerVersion, facts: HoldFacts): VersionHoldView | null {
  const { version, state } = candidate;
  if (state === 'withdrawn') return hold('withdrawn');
  if (parseVersion(version)?.[0] !== parseVersion(row.version)?.[0]) return hold('other-first-number');
  if (row.state === 'uninstall') return hold('uninstalling');
  if (!row.autoUpgradeMinorVersion) return hold('automatic-off');
  const putBack = facts.putBack.get(version);
  if (putBack !== undefined) return hold('put-back', { rollout: putBack });
  if (facts.target !== null && compareVersions(version, facts.target) < 0) {
    return hold('higher-version', { version: facts.target });
  }
  return refusalOf(facts.preview) ?? placeOf(facts);
}

const hold = (code: VersionHold, values: Partial<VersionHoldView> = {}): VersionHoldView => ({
  ...{ code, fault: null, version: null, rollout: null, step: null },
  ...values,
});

/** Codes of faults for which protected settings must be entered again or released. */
const secretFaults: readonly string[] = ['secrets_required', 'secrets_need_release'];

function refusalOf(preview: Preview | null): VersionHoldView | null {
  if (preview === null || preview.outcome === 'unchanged') return null;
  if (preview.outcome === 'gone') return hold('refused', { fault: 'vm_decommissioning' });
  if (preview.outcome === 'change') {
    return preview.needsRelease ? hold('secrets', { fault: 'secrets_need_release' }) : null;
  }
  const { code } = preview;
  if (secretFaults.includes(code)) return hold('secrets', { fault: code });
  const isSetting = code.startsWith('setting') || code.startsWith('protected_');
  return hold(isSetting ? 'settings' : 'refused', { fault: code });
}

const waiting: readonly PlaceIn['state'][] = [
  ...(['queued', 'parked', 'recalled'] as const),
  ...(['inFlight', 'soaking', 'retrying', 'reverting'] as const),
];

function placeOf({ other, automatic }: HoldFacts): VersionHoldView | null {
  if (other !== null) return hold('other-rollout', { rollout: other.rollout, step: stepOf(other) });
  if (automatic === null) return null;
  const { rollout, state } = automatic;
  const hasEnded = (endedStates as readonly RolloutState[]).includes(rollout.state);
  const shown = { rollout, step: stepOf(automatic) };
  if (state !== null && !waiting.includes(state) && state !== 'unreached') return hold('tried', shown);
  if (!hasEnded) return hold('turn', shown);
  // The portal starts another rollout after one that only gave way to a version that is withdrawn since.
  return automatic.isSuperseded ? null : hold('stopped', shown);
}

const stepOf = ({ state, cause }: PlaceIn): VersionHoldView['step'] => (state === null ? null : { state, cause });
