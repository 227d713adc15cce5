import type { ProblemFault } from '#app/_lib/problem.ts';
import { jsonObjectIn } from '#app/(portal)/vms/[vmId]/executions/json-object.ts';
import { termsOf } from '#app/(portal)/vms/[vmId]/executions/new/terms.ts';
import { jsonPointer } from '#protocol/pointer.ts';
import { isRunbookVersion } from '#protocol/semver.ts';
import type { ScriptDraft } from './plan-draft.ts';
import { isWithin } from './typed-texts.ts';
import type { RunbookDraft } from './use-runbook-draft.ts';

/** A fault that the editor finds itself, because the draft cannot be sent with it. */
export interface OwnFault {
  /** A path as in the faults of the portal, such as `/title` or `/plan/Scripts/hello/Options`. */
  path: string;
  code: 'required' | 'version' | 'timeout' | 'schema' | 'options' | 'optionTimeout' | 'variables';
}

/**
 * Returns the faults that the editor finds itself. A missing title is a fault only after an attempt to save, because a
 * new draft always starts without one.
 */
export function ownFaults({ title, version, terms, schema, typed }: RunbookDraft, wasTried: boolean): OwnFault[] {
  return [
    ...(wasTried && title.trim() === '' ? [{ path: '/title', code: 'required' as const }] : []),
    ...(isRunbookVersion(version) ? [] : [{ path: '/version', code: 'version' as const }]),
    ...(termsOf(terms) === null ? [{ path: '/timeoutSeconds', code: 'timeout' as const }] : []),
    ...Object.keys(typed).map((place) => ({ path: `/plan${place}`, code: codeAt(place) })),
    ...(jsonObjectIn(schema) === undefined ? [{ path: '/parameters', code: 'schema' as const }] : []),
  ];
}

function codeAt(place: string): OwnFault['code'] {
  if (place.endsWith('/Options')) return 'options';
  return place.endsWith('/timeout') ? 'optionTimeout' : 'variables';
}

/** The places of faults, in the order of the page. */
const order = ['/title', '/description', '/version', '/timeoutSeconds', '/validForSeconds', '/plan', '/parameters'];

/** The faults of a draft by their source. */
export interface FaultSources {
  own: readonly ProblemFault[];
  /** Faults of the plan, with paths in the plan. */
  plan: readonly ProblemFault[];
  /** Faults of the schema, with paths at or below `/parameters`. */
  schema: readonly ProblemFault[];
  /** Faults for which the portal rejected the draft. */
  rejected: readonly ProblemFault[];
}

/** Returns all faults of a draft in the order of the page, each once. */
export function faultsOfDraft({ own, plan, schema, rejected }: FaultSources): ProblemFault[] {
  const ownPlaces = new Set(own.map(({ path }) => path));
  const found = new Map<string, ProblemFault>();
  const inPlan = plan.map((fault) => ({ ...fault, path: `/plan${fault.path}` }));
  for (const fault of [...own, ...inPlan, ...schema, ...rejected]) {
    const key = ownPlaces.has(fault.path) ? fault.path : `${fault.path} ${fault.message}`;
    if (!found.has(key)) found.set(key, fault);
  }
  const rank = ({ path }: ProblemFault) => order.findIndex((place) => isWithin(path, place));
  return [...found.values()].toSorted((a, b) => rank(a) - rank(b));
}

/** Returns the faults at or below a path, each with its path from there on. */
export const faultsBelow = (faults: readonly ProblemFault[], path: string): ProblemFault[] =>
  faults
    .filter((fault) => isWithin(fault.path, path))
    .map((fault) => ({ ...fault, path: fault.path.slice(path.length) }));

/** Returns the faults of a script and of its files, from faults with paths in the plan. */
export function faultsOfScript(
  faults: readonly ProblemFault[],
  { name, files }: Pick<ScriptDraft, 'name' | 'files'>,
): ProblemFault[] {
  const places = [jsonPointer(['Scripts', name]), ...files.map(({ id }) => jsonPointer(['Files', id]))];
  return faults.filter(({ path }) => places.some((place) => isWithin(path, place)));
}
