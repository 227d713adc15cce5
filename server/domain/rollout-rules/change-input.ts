import { z } from 'zod';
import { hasInvisible } from '#protocol/invisible.ts';
import { maxCommandSeconds } from '#protocol/limits.ts';
import { namedValues, rejectReservedName } from '#protocol/named-values.ts';
import { extensionNamePattern, maxExtensionNameLength, maxHandlerIdLength, parseHandlerId } from '#protocol/names.ts';
import { parseVersion } from '#protocol/version.ts';
import { changeKinds } from './words.ts';

const handler = z
  .string()
  .max(maxHandlerIdLength)
  .refine((id) => parseHandlerId(id) !== null, 'handler_form');
const version = z
  .string()
  .max(64)
  .refine((text) => parseVersion(text) !== null, 'version_form');
const extension = z
  .string()
  .min(1)
  .max(maxExtensionNameLength)
  .refine((name) => !hasInvisible(name), { error: 'text_invisible', abort: true })
  .regex(extensionNamePattern, 'extension_name_form');
const seconds = z.number().int().min(1).max(maxCommandSeconds);
const commands = ['install', 'update', 'enable', 'disable', 'uninstall'] as const;
const deepest = 1_000;

/** Iterative, because a recursive function could overflow the stack. */
function isWalkable(settings: unknown): boolean {
  let level: unknown[] = [settings];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > deepest) return false;
    level = level.flatMap((value) => (typeof value === 'object' && value !== null ? Object.values(value) : []));
  }
  return true;
}
const tooDeep = { error: 'json_too_deep', params: { limit: deepest } };
const settings = namedValues(z.string(), z.unknown()).refine(isWalkable, tooDeep);

const publicSettings = z
  .strictObject({ merge: settings.optional(), replace: settings.optional() })
  .refine(({ merge, replace }) => (merge === undefined) !== (replace === undefined), 'settings_merge_or_replace')
  .transform(({ merge, replace }) => (merge === undefined ? { replace: replace ?? {} } : { merge }));

const timeouts = z.partialRecord(z.enum(commands), seconds);

const shape = {
  kind: z.enum(changeKinds),
  handler: handler.nullish(),
  extension: extension.nullish(),
  version: version.nullish(),
  state: z.enum(['enabled', 'disabled']).nullish(),
  autoUpgradeMinorVersion: z
    .boolean()
    .nullish()
    .describe('Whether the extension gets higher published versions with the same first number automatically.'),
  dependsOn: z
    .array(extension)
    .max(64)
    .transform((names) => [...new Set(names)])
    .nullish(),
  timeouts: timeouts.nullish(),
  publicSettings: publicSettings.nullish(),
  /** The whole object. Without it, the protected settings of each VM are kept; null removes them. */
  protectedSettings: z.unknown().refine(isWalkable, tooDeep).superRefine(rejectReservedName).optional(),
  onAbsent: z.enum(['skip', 'install']).default('skip'),
  allowLower: z.boolean().default(false),
  asOf: z.iso.datetime({ offset: true }).nullish(),
};

/** Fields that only a change of kind `set` has. */
const declared = [
  'version',
  'state',
  'autoUpgradeMinorVersion',
  'dependsOn',
  'timeouts',
  'publicSettings',
] as const satisfies (keyof typeof shape)[];

type Given = z.infer<z.ZodObject<typeof shape>>;
type Problem = [path: string[], message: string, params?: Record<string, string>];

/** What a change declares. Fields that are absent or null stay as they are on each VM. */
export const changeInput = z.strictObject(shape).superRefine((change, ctx) => {
  for (const [path, message, params] of problemsOf(change))
    ctx.addIssue({ code: 'custom', path, message, input: change, ...(params && { params }) });
});

const isGiven = (value: unknown): boolean => value !== null && value !== undefined;

function problemsOf(change: Given): Problem[] {
  const { kind } = change;
  const problems: Problem[] = [];
  if (kind !== 'revert' && !isGiven(change.handler)) problems.push([['handler'], 'field_missing']);
  if (kind !== 'revert' && isGiven(change.asOf)) problems.push([['asOf'], 'change_field_unused', { kind }]);
  if (kind === 'set') return [...problems, ...problemsOfSet(change)];
  for (const field of declared) {
    if (isGiven(change[field])) problems.push([[field], 'change_field_unused', { kind }]);
  }
  if (change.protectedSettings !== undefined) problems.push([['protectedSettings'], 'change_field_unused', { kind }]);
  if (change.onAbsent === 'install') problems.push([['onAbsent'], 'change_field_unused', { kind }]);
  return problems;
}

function problemsOfSet(change: Given): Problem[] {
  const isEmpty = declared.every((field) => !isGiven(change[field])) && change.protectedSettings === undefined;
  if (isEmpty) return [[[], 'change_empty']];
  if (change.onAbsent !== 'install') return [];
  const problems: Problem[] = [];
  if (!isGiven(change.extension)) problems.push([['extension'], 'extension_name_needed']);
  if (!isGiven(change.version)) problems.push([['version'], 'field_missing']);
  return problems;
}
export type ChangeInput = z.output<typeof changeInput>;
