import { parseExactJson } from '#protocol/executions/exact-json.ts';

type Values = Record<string, unknown>;

/** A script of the plan with the files that it uses. */
export interface ScriptDraft {
  name: string;
  type: string;
  version: string;
  entryPoint: string;
  /** The entry point if it is a file, then the script's other files. */
  files: FileDraft[];
  /** The options as JSON text. */
  options: string;
}

export interface FileDraft {
  id: string;
  name: string;
  /** Null for a file that is not text. */
  text: string | null;
}

/** The parts of a plan that the editor shows separately. */
export interface PlanDraft {
  body: string;
  parameters: Values;
  scripts: ScriptDraft[];
}

const isObject = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const object = (value: unknown): Values => (isObject(value) ? value : {});
const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];

/** Returns the parts of a plan's JSON text; null if the text is not a JSON object. */
export function readDraft(json: string): PlanDraft | null {
  const plan = parsed(json);
  if (plan === null) return null;
  const files = object(plan.Files);
  return {
    body: text(plan.Body),
    parameters: object(plan.Parameters),
    scripts: Object.entries(object(plan.Scripts)).map(([name, value]) => {
      const script = object(value);
      return {
        name,
        type: text(script.Type),
        version: text(script.Version),
        entryPoint: text(script.EntryPoint),
        files: fileIdsOf(script, files).map((id) => fileOf(id, object(files[id]))),
        options: JSON.stringify(object(script.Options), null, 2),
      };
    }),
  };
}

function fileIdsOf(script: Values, files: Values): string[] {
  const ids = new Set([text(script.EntryPoint), ...texts(script.Files)]);
  return [...ids].filter((id) => Object.hasOwn(files, id));
}

function fileOf(id: string, { Name, BodyType, Body }: Values): FileDraft {
  const isText = BodyType === undefined || BodyType === 'Text';
  return { id, name: text(Name) || id, text: isText ? text(Body) : null };
}

function parsed(json: string): Values | null {
  try {
    const value = parseExactJson(json);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** Returns the plan's text after a change. Keeps the notation of numbers. Text that is not an object stays the same. */
function changed(json: string, change: (plan: Values) => Values): string {
  const plan = parsed(json);
  return plan === null ? json : `${JSON.stringify(change(plan), null, 2)}\n`;
}

/** Converts line endings to LF. With CRLF, `#!` lines and lines that end with a backslash would not work. */
export const withLf = (given: string): string => given.replace(/\r\n?/g, '\n');

export const setBody = (json: string, body: string): string =>
  changed(json, (plan) => ({ ...plan, Body: withLf(body) }));

const changeScript = (json: string, name: string, change: (script: Values) => Values): string =>
  changed(json, (plan) => {
    const scripts = object(plan.Scripts);
    return { ...plan, Scripts: { ...scripts, [name]: change(object(scripts[name])) } };
  });

/** Changes a script's type, version or entry point. An empty version removes the property. */
export const setScript = (
  json: string,
  name: string,
  { type, version, entryPoint }: { type?: string; version?: string; entryPoint?: string },
): string =>
  changeScript(json, name, ({ Version, ...script }) => {
    const kept = version ?? text(Version);
    return {
      ...script,
      ...(type !== undefined && { Type: type }),
      ...(kept !== '' && { Version: kept }),
      ...(entryPoint !== undefined && { EntryPoint: entryPoint, Files: withOther(script, entryPoint) }),
    };
  });

/** Returns the ids of the script's other files once `entryPoint` is its entry point. */
const withOther = (script: Values, entryPoint: string): string[] =>
  [...new Set([text(script.EntryPoint), ...texts(script.Files)])].filter((id) => id !== '' && id !== entryPoint);

/** Sets the options of a script from JSON text. Returns null if the text is not a JSON object. */
export function setOptions(json: string, name: string, options: string): string | null {
  const value = parsed(options);
  return value === null ? null : changeScript(json, name, (script) => ({ ...script, Options: value }));
}

const suffixes: Readonly<Record<string, string>> = {
  Bash: '.sh',
  Application: '.sh',
  Python: '.py',
  PowerShell: '.ps1',
  Puppet: '.pp',
  Chef: '.rb',
  SaltStack: '.sls',
};

/** Adds a script with one new file. */
export function addScript(json: string, name: string, type: string): string {
  return changed(json, (plan) => {
    const files = object(plan.Files);
    const fileName = `${name}${suffixes[type] ?? ''}`;
    const id = freeId(fileName, files);
    const Body = type === 'Application' ? '#!/bin/sh\n' : '';
    return {
      ...plan,
      Scripts: { ...object(plan.Scripts), [name]: { Type: type, EntryPoint: id, Files: [], Options: {} } },
      Files: { ...files, [id]: { Name: fileName, BodyType: 'Text', Body } },
    };
  });
}

/** Removes a script, and the files that only it uses. */
export const removeScript = (json: string, name: string): string =>
  changed(json, (plan) => {
    const { [name]: removed, ...scripts } = object(plan.Scripts);
    return withoutUnused({ ...plan, Scripts: scripts }, fileIdsOf(object(removed), object(plan.Files)));
  });

/** Adds a file to a script. If the script already has a file with this name, replaces the text of that file. */
export const addFile = (json: string, script: string, name: string, body: string): string =>
  changed(json, (plan) => {
    const [scripts, files] = [object(plan.Scripts), object(plan.Files)];
    const user = object(scripts[script]);
    const known = fileIdsOf(user, files).find((id) => fileOf(id, object(files[id])).name === name);
    const id = known ?? freeId(name, files);
    const file = { Name: name, BodyType: 'Text', Body: withLf(body) };
    const used = known === undefined ? { ...user, Files: [...texts(user.Files), id] } : user;
    return { ...plan, Scripts: { ...scripts, [script]: used }, Files: { ...files, [id]: file } };
  });

export const setFileText = (json: string, id: string, body: string): string =>
  changed(json, (plan) => {
    const files = object(plan.Files);
    return { ...plan, Files: { ...files, [id]: { ...object(files[id]), Body: withLf(body) } } };
  });

/** Removes a file from a script, and from the plan if no other script uses it. */
export const removeFile = (json: string, script: string, id: string): string =>
  changed(json, (plan) => {
    const scripts = object(plan.Scripts);
    const user = object(scripts[script]);
    const rest = { ...user, Files: texts(user.Files).filter((other) => other !== id) };
    return withoutUnused({ ...plan, Scripts: { ...scripts, [script]: rest } }, [id]);
  });

function withoutUnused(plan: Values, ids: readonly string[]): Values {
  const files = object(plan.Files);
  const used = new Set(Object.values(object(plan.Scripts)).flatMap((script) => fileIdsOf(object(script), files)));
  return {
    ...plan,
    Files: Object.fromEntries(Object.entries(files).filter(([id]) => used.has(id) || !ids.includes(id))),
  };
}

function freeId(wanted: string, files: Values): string {
  for (let n = 1; ; n += 1) {
    const id = n === 1 ? wanted : `${wanted}-${n}`;
    if (!Object.hasOwn(files, id)) return id;
  }
}
