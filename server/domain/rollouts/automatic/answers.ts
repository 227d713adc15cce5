import { z } from 'zod';
import { count, time } from '#server/domain/answers.ts';
import { autoUpgradeMinorVersion } from '#server/domain/goal-states/index.ts';
import { rolloutKinds, rolloutStates, stepStates, versionHolds } from '#server/domain/rollout-rules/words.ts';
import { vmId } from '#server/domain/vms/input.ts';
import { rolloutRow } from '../answers.ts';

/** A rollout by name. */
export const rolloutReference = z.object({
  id: z.string(),
  name: z.string(),
  kind: z.enum(rolloutKinds),
  state: z.enum(rolloutStates),
});
export type RolloutReference = z.infer<typeof rolloutReference>;

/** What keeps an extension from a newer version. */
export const versionHold = z.object({
  code: z.enum(versionHolds),
  /** With `settings`, `secrets` and `refused`: the code of the error, with a sentence in `locales/en/errors.json`. */
  fault: z.string().nullable(),
  /** With `higher-version`: the version to which the extension is upgraded instead. */
  version: z.string().nullable(),
  /**
   * With `put-back`: the rollout whose step failed or was reverted. With `other-rollout`: the open rollout that changes
   * the extension. With `turn`, `tried` and `stopped`: the automatic rollout.
   */
  rollout: rolloutReference.nullable(),
  /** With `turn` and `tried`: the state of the VM's step in that rollout, and its cause. */
  step: z.object({ state: z.enum(['queued', ...stepStates]), cause: z.string().nullable() }).nullable(),
});
export type VersionHoldView = z.infer<typeof versionHold>;

/** Why an extension has its version. */
export const versionExplanation = z.object({
  vmId,
  extension: z.string(),
  handler: z.string(),
  /** The version that a person requested, and the version in the goal state. */
  requestedVersion: z.string(),
  version: z.string(),
  autoUpgradeMinorVersion,
  /** The automatic rollout that gave the extension its version; null if a person declared it. */
  upgradedBy: rolloutReference.nullable(),
  /** The newer versions of the handler, the highest first, at most 100. */
  candidates: z.array(
    z.object({
      version: z.string(),
      state: z.enum(['published', 'withdrawn']),
      publishedAt: time.nullable(),
      /** Null if nothing keeps the extension from this version: its automatic upgrade begins within a minute. */
      held: versionHold.nullable(),
    }),
  ),
});
export type VersionExplanation = z.infer<typeof versionExplanation>;

/** The automatic upgrades of a handler. */
export const automaticUpgrades = z.object({
  handler: z.string(),
  /** `isOwn`: the strategy is chosen for this handler, and not for every handler. */
  strategy: z.object({ name: z.string(), builtIn: z.boolean(), isOwn: z.boolean() }),
  /** VMs with an extension of the handler that is upgraded automatically. */
  vms: count,
  /** For each first number, the version to which extensions are upgraded, the highest first. */
  targets: z.array(
    z.object({
      version: z.string(),
      /** VMs with an extension that is upgraded automatically and has a lower version with the same first number. */
      vms: count,
      /** The latest automatic rollout of this version; null before the first VM can be upgraded. */
      rollout: rolloutReference.nullable(),
    }),
  ),
  /** The automatic rollouts that have not ended, the newest first. */
  open: z.array(rolloutRow),
  /** The automatic rollout that ended last. */
  last: rolloutRow.nullable(),
});
export type AutomaticUpgrades = z.infer<typeof automaticUpgrades>;
