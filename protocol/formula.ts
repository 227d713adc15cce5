import { z } from 'zod';
import { hookSeconds, type RelationSide, relationEvents, relationSides, unitHooks } from './formula-words.ts';
import type { HandlerManifest } from './manifest.ts';
import { jsonPointer } from './pointer.ts';

export const maxRelationNameLength = 63;
const relationName = /^[a-z][a-z0-9]*(?:-[a-z0-9]*[a-z][a-z0-9]*)*$/;
const interfaceName = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/;

export type FormulaFaultCode =
  | 'field_empty'
  | 'field_missing'
  | 'field_not_boolean'
  | 'field_not_integer'
  | 'field_not_text'
  | 'field_too_big'
  | 'field_too_small'
  | 'relation_interface_form'
  | 'relation_name_form'
  | 'relation_name_twice'
  | 'relation_scope'
  | 'yaml_not_list'
  | 'yaml_not_map';

/** One fault in metadata.yaml; `path` is a JSON pointer into the file. */
export interface FormulaFault {
  path: string;
  code: FormulaFaultCode;
  params?: Record<string, string | number>;
}

/** The issue's message is a code that is translated when it is shown. */
const coded = (wrong: FormulaFaultCode) => ({
  error: (issue: { input?: unknown }) => (issue.input === undefined ? 'field_missing' : wrong),
});
const text = z.string(coded('field_not_text')).refine((value) => value.trim() !== '', 'field_empty');
const integer = (maximum?: number) =>
  z
    .int(coded('field_not_integer'))
    .min(1, 'field_too_small')
    .max(maximum ?? Number.MAX_SAFE_INTEGER, 'field_too_big');

const givenEndpoint = z.object(
  {
    interface: z
      .string(coded('relation_interface_form'))
      .max(maxRelationNameLength, 'relation_interface_form')
      .regex(interfaceName, 'relation_interface_form'),
    limit: integer().optional(),
    optional: z.boolean(coded('field_not_boolean')).optional(),
    scope: z
      .unknown()
      .refine((scope) => scope === undefined || scope === 'global', 'relation_scope')
      .optional(),
  },
  coded('yaml_not_map'),
);
/** YAML reads an empty section, such as `peers:`, as null. */
const section = <Value extends z.ZodType>(value: Value) =>
  z.preprocess((given) => given ?? {}, z.record(z.string(), value, coded('yaml_not_map')));

const metadataFile = z.object(
  {
    name: text,
    summary: z.preprocess((given) => given ?? '', z.string(coded('field_not_text'))),
    provides: section(givenEndpoint),
    requires: section(givenEndpoint),
    peers: section(givenEndpoint),
    timeouts: section(integer(hookSeconds.maximum)),
    masked: z.preprocess((given) => given ?? [], z.array(text, coded('yaml_not_list'))),
  },
  coded('yaml_not_map'),
);

/** A relation that a formula declares. */
const endpoint = z.object({
  interface: z.string(),
  /** How many relations of a service may use it; null for any number. */
  limit: z.number().nullable(),
  /** Whether units work without it. Only a relation that a formula requires can be missing. */
  optional: z.boolean(),
});
const endpoints = z.record(z.string(), endpoint);

/** What the portal keeps of a formula's metadata.yaml and hooks. */
export const formulaManifest = z.object({
  name: z.string(),
  summary: z.string(),
  provides: endpoints,
  requires: endpoints,
  peers: endpoints,
  /** Time limits of hooks in seconds; `default` is the limit of all other hooks. */
  timeouts: z.record(z.string(), z.number()),
  /** Keys whose values are hidden in outputs and on pages. */
  masked: z.array(z.string()),
  /** The hooks that the package contains, sorted. */
  hooks: z.array(z.string()),
});
export type FormulaManifest = z.infer<typeof formulaManifest>;
/** The manifest of a package of either kind. */
export type AnyManifest = HandlerManifest | FormulaManifest;

/** Whether a manifest is a handler's, and not a formula's. */
export const isHandlerManifest = (manifest: AnyManifest): manifest is HandlerManifest => 'handlerManifest' in manifest;

/** The part of a formula's manifest that is in metadata.yaml. */
export type FormulaMetadata = Omit<FormulaManifest, 'hooks'>;

/** Returns every hook that an agent may run for a formula with these relations. */
export function hookNames(formula: Pick<FormulaMetadata, RelationSide>): string[] {
  const relations = relationSides.flatMap((side) => Object.keys(formula[side]));
  return [...unitHooks, ...relations.flatMap((name) => relationEvents.map((event) => `${name}-relation-${event}`))];
}

/** Checks parsed metadata. Every missing, ill-typed or invalid field is a separate fault. */
export function readMetadata(value: unknown): { metadata: FormulaMetadata } | { faults: FormulaFault[] } {
  const result = metadataFile.safeParse(value);
  const faults = [...(result.success ? [] : result.error.issues.map(faultOf)), ...relationFaults(value)];
  if (!result.success || faults.length > 0) return { faults };
  const { name, summary, provides, requires, peers, timeouts, masked } = result.data;
  const sides = { provides: endpointsOf(provides), requires: endpointsOf(requires, 1), peers: endpointsOf(peers) };
  return { metadata: { name, summary: summary.trim(), ...sides, timeouts, masked } };
}

function faultOf(issue: z.core.$ZodIssue): FormulaFault {
  const fault = { path: jsonPointer(issue.path), code: issue.message as FormulaFaultCode };
  if (issue.code === 'too_big') return { ...fault, params: { maximum: Number(issue.maximum) } };
  return issue.code === 'too_small' ? { ...fault, params: { minimum: Number(issue.minimum) } } : fault;
}

function endpointsOf(given: Record<string, z.output<typeof givenEndpoint>>, limit: number | null = null) {
  return Object.fromEntries(
    Object.entries(given).map(([name, one]) => [
      name,
      { interface: one.interface, limit: one.limit ?? limit, optional: one.optional ?? false },
    ]),
  );
}

/** Returns the faults of the relations' names. A name must be unique in the formula, because hooks are named after it. */
function relationFaults(value: unknown): FormulaFault[] {
  const faults: FormulaFault[] = [];
  const seen = new Set<string>();
  for (const side of relationSides) {
    for (const name of Object.keys(fieldsOf(fieldsOf(value)[side]))) {
      const path = jsonPointer([side, name]);
      const isValid = name.length <= maxRelationNameLength && relationName.test(name);
      if (!isValid || /^(?:ensemble|juju)/.test(name)) faults.push({ path, code: 'relation_name_form' });
      else if (seen.has(name)) faults.push({ path, code: 'relation_name_twice' });
      seen.add(name);
    }
  }
  return faults;
}

const fieldsOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
