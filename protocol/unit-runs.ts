import { z } from 'zod';
import type { DueHook } from './hooks.ts';
import { maxCommandSeconds } from './limits.ts';
import { anyNamed } from './named-values.ts';
import { hookName, unitLimits, unitName } from './unit-state.ts';

const count = z.int().nonnegative();
/** The largest number that the portal stores for a version, an attempt and an exit code. */
const largest = 2 ** 31 - 1;
/** The JSON text of each value, by key. The portal does not store the values in parsed form. */
const texts = anyNamed(z.string());
const jsonText = z.string().refine(isJson, { error: 'not JSON' });
const port = z
  .string()
  .regex(/^[1-9]\d{0,4}\/(?:tcp|udp)$/)
  .refine((text) => Number.parseInt(text, 10) <= 65_535, { error: 'not a port' });
const relationId = z.int().positive();
const formulaVersion = z.string().max(128);
/** Identifies the machine's current boot. */
const boot = z.string().min(1).max(128).optional();

export const runLimits = { nodes: 64, ports: 256, outputBytes: 64 * 1024 };

/** The settings of a unit in a relation, as returned by `GET /agent/v1/units/{unit}/relations/{id}/{unit}`. */
export const nodeDocument = z.looseObject({ version: count, settings: texts });
export type RelationNode = z.output<typeof nodeDocument>;

/** The settings of a unit's service, as returned by `GET /agent/v1/units/{unit}/settings`. */
export const serviceSettings = nodeDocument.extend({
  /** The encrypted settings: DER of a CMS EnvelopedData, in base64. */
  protectedSettings: z.string().optional(),
  /** SHA-1 of the certificate that the settings are encrypted for, in hexadecimal. */
  protectedSettingsCertThumbprint: z.string().optional(),
});
export type ServiceSettings = z.output<typeof serviceSettings>;

/** What a run of a hook is for. */
const hookCause = {
  hook: hookName,
  relation: relationId.optional(),
  remoteUnit: unitName.optional(),
  /**
   * The version that the hook confirms: for `joined` and `changed` that of the member's settings, for `config-changed`
   * that of the service's settings.
   */
  version: count.max(largest).optional(),
  /** For `config-changed`: the public address that the hook confirms, null if the unit has none. */
  address: z.string().max(64).nullable().optional(),
};
export type HookCause = z.output<z.ZodObject<typeof hookCause>>;

/** Returns what a run of a hook is for, as `begin` and `skipped` send it. */
export function causeOfRun({ kind, hook, relation, remoteUnit, version, settings, address }: DueHook): HookCause {
  return {
    hook,
    ...(relation !== undefined && { relation: relation.id }),
    ...(remoteUnit !== undefined && { remoteUnit }),
    ...(kind === 'config-changed'
      ? { version: settings, ...(address !== undefined && { address }) }
      : version !== undefined && { version }),
  };
}

const runBegin = z.object({
  phase: z.literal('begin'),
  ...hookCause,
  attempt: z.int().positive().max(largest),
  formula: formulaVersion,
  timeoutSeconds: z.number().positive().max(maxCommandSeconds),
  boot,
});
export type UnitRunBegin = z.output<typeof runBegin>;

const nodeChange = z.object({ relation: relationId, set: anyNamed(jsonText), remove: z.array(z.string()) });

const runEnd = z
  .object({
    phase: z.literal('end'),
    /** Null if a signal or the agent ended the hook. */
    exitCode: z.int().min(-largest).max(largest).nullable(),
    signal: z.string().max(64).nullable(),
    timedOut: z.boolean(),
    seconds: z.number().nonnegative(),
    /** The end of the output. */
    output: z.string(),
    /** The versions of the settings that the hook read. */
    views: z.array(
      z.union([z.object({ relation: relationId, unit: unitName, version: count }), z.object({ settings: count })]),
    ),
    changes: z.array(nodeChange).max(runLimits.nodes).optional(),
    ports: z.object({ open: z.array(port).max(runLimits.ports), close: z.array(port).max(runLimits.ports) }).optional(),
    /** The last message of level ERROR that has an id. */
    reason: z.object({ id: z.string(), params: z.array(z.string()) }).nullable(),
  })
  .superRefine(({ exitCode, signal, timedOut, changes, ports }, ctx) => {
    const succeeded = exitCode === 0 && signal === null && !timedOut;
    if (!succeeded && (changes !== undefined || ports !== undefined)) {
      ctx.addIssue({ code: 'custom', path: ['changes'], message: 'A hook that failed changes nothing.' });
    }
    const relations = new Set<number>();
    for (const [at, { relation, set, remove }] of (changes ?? []).entries()) {
      const path = ['changes', at];
      if (relations.has(relation)) ctx.addIssue({ code: 'custom', path, message: 'The relation occurs twice.' });
      relations.add(relation);
      const both = remove.some((key) => Object.hasOwn(set, key));
      if (both) ctx.addIssue({ code: 'custom', path, message: 'A key is set and removed.' });
    }
  });

/** The body of `PUT /agent/v1/units/{unit}/runs/{run}`: one run of a hook, which begins and ends. */
export const unitRun = z.union([runBegin, runEnd]);
export type UnitRun = z.output<typeof unitRun>;
export type UnitRunEnd = z.output<typeof runEnd>;

const skippedHook = z.object({
  ...hookCause,
  /** The formula's version that the hook belongs to. */
  formula: formulaVersion.optional(),
  /** The run that failed, if the hook is skipped after failures. Absent for a hook that has no file. */
  run: z.uuid().optional(),
});
export type ConfirmedHook = z.output<typeof skippedHook>;
export const maxSkippedHooks = 500;

/** The body of `POST /agent/v1/units/{unit}/skipped`: hooks that count as done without a run that succeeded. */
export const skippedHooks = z.object({ boot, skipped: z.array(skippedHook).min(1).max(maxSkippedHooks) });
export type SkippedHooks = z.output<typeof skippedHooks>;

/** The response to `begin`, and to `end`. */
export const runBegun = z.looseObject({ number: z.int().positive() });
export const runEnded = z.looseObject({
  outcome: z.enum(['stored', 'repeated']),
  /** The new version of the unit's settings in each relation that the hook changed. */
  versions: z.record(z.string(), count),
  /** Relations that ended meanwhile; their changes are not stored. */
  dropped: z.array(relationId).max(unitLimits.relationsOfUnit).optional(),
});

/** Other units put the text into the JSON of the whole node. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
