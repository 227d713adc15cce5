import { z } from 'zod';
import { hasInvisible } from '#protocol/invisible.ts';
import { maxCommandSeconds } from '#protocol/limits.ts';
import { namedValues, rejectReservedName } from '#protocol/named-values.ts';
import { extensionNamePattern, maxExtensionNameLength } from '#protocol/names.ts';
import { unwrapSettings } from '#protocol/settings-wrapper.ts';
import { handlerId, handlerVersion } from '#server/domain/packages/input.ts';
import { vmId } from '#server/domain/vms/input.ts';

/** Name of the extension on its VM. */
export const extensionName = z
  .string()
  .min(1)
  .max(maxExtensionNameLength)
  .refine((name) => !hasInvisible(name), { error: 'text_invisible', abort: true })
  .regex(extensionNamePattern, 'extension_name_form');

/** Timeout of a command, in seconds. */
const seconds = z.number().int().min(1).max(maxCommandSeconds);

export const commandTimeouts = z.strictObject({
  install: seconds.optional(),
  update: seconds.optional(),
  enable: seconds.optional(),
  disable: seconds.optional(),
  uninstall: seconds.optional(),
});

/**
 * Maximum depth of settings that recursive functions can walk without overflowing the stack. The portal's limit for
 * settings is far lower.
 */
const deepestWalk = 1_000;

/** Iterative, because a recursive function could overflow the stack. */
function isWalkable(settings: unknown): boolean {
  let level: unknown[] = [settings];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > deepestWalk) return false;
    level = level.flatMap((value) => (typeof value === 'object' && value !== null ? Object.values(value) : []));
  }
  return true;
}

const tooDeep = { error: 'json_too_deep', params: { limit: deepestWalk } };
const publicSettings = namedValues(z.string(), z.unknown()).refine(isWalkable, tooDeep);
/** Any JSON value, because the publisher's schema decides whether it must be an object. */
const protectedSettings = z.unknown().refine(isWalkable, tooDeep);
const allProtectedSettings = protectedSettings.superRefine(rejectReservedName);

const plainSettings = z.strictObject({
  publicSettings: publicSettings.default({}),
  protectedSettings: allProtectedSettings.nullish(),
});

const wrapped = z.strictObject({
  handlerSettings: z.strictObject({
    publicSettings: publicSettings.nullish(),
    protectedSettings: allProtectedSettings.nullish(),
    protectedSettingsCertThumbprint: z.literal('').nullish(),
  }),
});
const { $schema: _, ...everyForm } = z.toJSONSchema(
  z.union([plainSettings, wrapped, z.strictObject({ runtimeSettings: z.array(wrapped).length(1) })]),
  { io: 'input', unrepresentable: 'any' },
);

/**
 * Public and protected settings, directly or in the wrapper of the source document (AZ-C1). Paths of faults omit the
 * wrapper.
 */
const settings = z
  .custom<z.input<typeof plainSettings>>()
  .meta({
    ...everyForm,
    description: 'The settings, with or without the wrapper of a settings file. Both forms mean the same.',
  })
  .transform((value, ctx) => {
    const unwrapped = unwrapSettings(value);
    if (unwrapped === null) return value;
    for (const { path, code } of unwrapped.faults)
      ctx.issues.push({ code: 'custom', path, message: code, input: value });
    return unwrapped.faults.length > 0 ? z.NEVER : unwrapped.settings;
  })
  .pipe(plainSettings);

/**
 * An operator's declaration of one extension (AZ-C1). Without `protectedSettings`, the current protected settings are
 * kept; null removes them.
 */
export const extensionGoal = z.strictObject({
  handler: handlerId,
  version: handlerVersion,
  state: z.enum(['enabled', 'disabled']),
  autoUpgradeMinorVersion: z
    .boolean()
    .default(false)
    .describe('Whether the extension gets higher published versions with the same first number automatically.'),
  dependsOn: z
    .array(extensionName)
    .max(64)
    .default([])
    .transform((names) => [...new Set(names)]),
  timeouts: commandTimeouts.default({}),
  settings: settings.default({ publicSettings: {} }),
});

/** An incarnation, up to PostgreSQL's largest `integer`. */
const incarnation = z.int32().min(1);

const ifMatch = z.number().int().min(0).optional();

/** The hash of a plan: the change is rejected if its effect differs from the plan. */
const plan = z.string().min(1).max(100).optional();

/** `siblings`: also change the handler's other extensions on the VM, which must have the same version. */
const siblings = z.boolean().default(false);

/** Name of a protected setting. */
const settingName = z.string().max(1_000);

/**
 * Changes to individual protected settings: new values by name, and names to remove. The other settings do not change.
 */
export const settingChanges = z
  .strictObject({
    set: namedValues(settingName, protectedSettings).default({}),
    remove: z.array(settingName).max(10_000).default([]),
  })
  .superRefine(({ set, remove }, ctx) => {
    remove.forEach((setting, index) => {
      if (Object.hasOwn(set, setting)) {
        ctx.addIssue({ code: 'custom', path: ['remove', index], message: 'setting_set_and_removed' });
      }
    });
  });

/** `changes` apply to the stored protected settings. They cannot be combined with new protected settings as a whole. */
const changesOnly = <Input extends { goal: { settings: { protectedSettings?: unknown } }; changes?: unknown }>({
  goal,
  changes,
}: Input) => changes === undefined || goal.settings.protectedSettings === undefined;
const wholeAndChanges = { path: ['changes'], error: 'protected_settings_twice' };

/** `ifMatch`: the incarnation that the caller saw. The request is rejected if the current incarnation differs. */
export const setExtensionInput = z
  .object({
    vmId,
    name: extensionName,
    goal: extensionGoal,
    changes: settingChanges.optional(),
    siblings,
    ifMatch,
    plan,
  })
  .refine(changesOnly, wholeAndChanges);
export type SetExtensionInput = z.input<typeof setExtensionInput>;

const removal = z.object({ vmId, name: extensionName, force: z.boolean().default(false) });

export const removeExtensionInput = removal.extend({ ifMatch, plan });
export type RemoveExtensionInput = z.input<typeof removeExtensionInput>;

export const planRemovalInput = removal;
export type PlanRemovalInput = z.input<typeof planRemovalInput>;

export const getExtensionInput = z.object({ vmId, name: extensionName });
export type GetExtensionInput = z.input<typeof getExtensionInput>;

/** A declaration whose effect is planned but not applied. */
export const planExtensionInput = z
  .object({ vmId, name: extensionName, goal: extensionGoal, changes: settingChanges.optional(), siblings })
  .refine(changesOnly, wholeAndChanges);
export type PlanExtensionInput = z.input<typeof planExtensionInput>;

const protectedChange = z.object({ vmId, name: extensionName, changes: settingChanges });

export const changeProtectedSettingsInput = protectedChange.extend({ ifMatch, plan });
export type ChangeProtectedSettingsInput = z.input<typeof changeProtectedSettingsInput>;

/** Changes to protected settings whose effect is planned but not applied. */
export const planProtectedSettingsInput = protectedChange;
export type PlanProtectedSettingsInput = z.input<typeof planProtectedSettingsInput>;

export const getGoalStateInput = z.object({ vmId });
export type GetGoalStateInput = z.input<typeof getGoalStateInput>;

export const listGoalStatesInput = z.object({
  vmId,
  limit: z.number().int().min(1).max(100).default(20),
  cursor: z.string().max(100).optional(),
});
export type ListGoalStatesInput = z.input<typeof listGoalStatesInput>;

/** `from: 0` is the empty state before the first goal state. */
export const compareGoalStatesInput = z.object({
  vmId,
  from: incarnation.or(z.literal(0)),
  to: incarnation,
});
export type CompareGoalStatesInput = z.input<typeof compareGoalStatesInput>;

const reversion = z.object({ vmId, incarnation });

export const revertGoalStateInput = reversion.extend({ ifMatch, plan });
export type RevertGoalStateInput = z.input<typeof revertGoalStateInput>;

export const planRevertInput = reversion;
export type PlanRevertInput = z.input<typeof planRevertInput>;

/** `thumbprint`: the certificate that the admin saw. The request is rejected if the VM has another certificate now. */
export const releaseSecretsInput = z.object({
  vmId,
  thumbprint: z
    .string()
    .regex(/^[0-9A-Fa-f]{40}$/)
    .transform((hex) => hex.toUpperCase())
    .optional(),
});
export type ReleaseSecretsInput = z.input<typeof releaseSecretsInput>;
