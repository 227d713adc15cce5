import { z } from 'zod';
import { secretParameters, timeoutSeconds, validForSeconds } from '#protocol/executions/index.ts';
import { hasInvisible } from '#protocol/invisible.ts';
import { maxCommandSeconds } from '#protocol/limits.ts';
import { anyNamed, namedValues, rejectReservedName } from '#protocol/named-values.ts';
import { extensionNamePattern, maxExtensionNameLength, maxHandlerIdLength, parseHandlerId } from '#protocol/names.ts';
import { isRunbookVersion } from '#protocol/semver.ts';
import { parseVersion } from '#protocol/version.ts';
import { changeKinds } from './words.ts';

const handler = z
  .string()
  .max(maxHandlerIdLength)
  .refine((id) => parseHandlerId(id) !== null, 'handler_form');
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
  /** The version of the handler or, for a change of kind `run`, of the runbook. */
  version: z.string().max(64).nullish(),
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
  /** A runbook by name. It runs in its newest published version unless `version` is given. */
  runbook: z.string().min(1).max(64).nullish(),
  parameters: anyNamed(z.unknown()).refine(isWalkable, tooDeep).nullish(),
  /** Without them, an edit keeps those that were entered before. */
  secretParameters: secretParameters.nullish(),
  timeoutSeconds: timeoutSeconds.nullish(),
  validForSeconds: validForSeconds.nullish(),
};

/** Fields that only a change of kind `set` has; `version` belongs to `run` too. */
const declared = [
  'version',
  'state',
  'autoUpgradeMinorVersion',
  'dependsOn',
  'timeouts',
  'publicSettings',
] as const satisfies (keyof typeof shape)[];

/** Fields that only a change of kind `run` has. */
const ofRun = [
  'runbook',
  'parameters',
  'secretParameters',
  'timeoutSeconds',
  'validForSeconds',
] as const satisfies (keyof typeof shape)[];

type Given = z.infer<z.ZodObject<typeof shape>>;
type Problem = [path: string[], message: string, params?: Record<string, string>];

/** What a change declares. Fields that are absent or null stay as they are on each VM. */
export const changeInput = z.strictObject(shape).superRefine((change, ctx) => {
  for (const [path, message, params] of problemsOf(change))
    ctx.addIssue({ code: 'custom', path, message, input: change, ...(params && { params }) });
});

const isGiven = <T>(value: T): value is NonNullable<T> => value !== null && value !== undefined;

function problemsOf(change: Given): Problem[] {
  const { kind, version } = change;
  if (kind === 'run') return problemsOfRun(change);
  const problems: Problem[] = [];
  if (kind !== 'revert' && !isGiven(change.handler)) problems.push([['handler'], 'field_missing']);
  if (kind !== 'revert' && isGiven(change.asOf)) problems.push(unused(kind, 'asOf'));
  for (const field of ofRun) if (isGiven(change[field])) problems.push(unused(kind, field));
  if (kind === 'set') {
    if (isGiven(version) && parseVersion(version) === null) problems.push([['version'], 'version_form']);
    return [...problems, ...problemsOfSet(change)];
  }
  return [...problems, ...problemsOfDeclared(change)];
}

const unused = (kind: Given['kind'], field: keyof Given): Problem => [[field], 'change_field_unused', { kind }];

/** Returns a problem for each field that only a change of kind `set` has. */
function problemsOfDeclared(change: Given): Problem[] {
  const { kind } = change;
  const problems = declared.filter((field) => isGiven(change[field])).map((field) => unused(kind, field));
  if (change.protectedSettings !== undefined) problems.push(unused(kind, 'protectedSettings'));
  if (change.onAbsent === 'install') problems.push(unused(kind, 'onAbsent'));
  return problems;
}

function problemsOfRun(change: Given): Problem[] {
  const { kind, runbook, version } = change;
  const problems: Problem[] = isGiven(runbook) ? [] : [[['runbook'], 'field_missing']];
  if (isGiven(version) && !isRunbookVersion(version)) problems.push([['version'], 'runbook_version_form']);
  for (const field of ['handler', 'extension', 'asOf'] as const) {
    if (isGiven(change[field])) problems.push(unused(kind, field));
  }
  return [...problems, ...problemsOfDeclared({ ...change, version: null })];
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
