/** The parts of a plan that the page shows separately. */
export interface PlanShown {
  body: string;
  parameters: Record<string, unknown>;
  /** `files` counts the files in the script's folder, including the entry point if it is a file. */
  scripts: { name: string; type: string; entryPoint: string; files: number }[];
  files: { id: string; name: string; kind: string; text: string | null }[];
}

const object = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Returns the parts of a plan; null if it has no Body, like plans in format vCurrent. */
export function readPlan(json: string): PlanShown | null {
  const plan = object(JSON.parse(json));
  if (typeof plan.Body !== 'string') return null;
  return {
    body: plan.Body,
    parameters: object(plan.Parameters),
    scripts: Object.entries(object(plan.Scripts)).map(([name, value]) => {
      const { Type, EntryPoint, Files } = object(value);
      return {
        name,
        type: text(Type),
        entryPoint: fileName(plan, text(EntryPoint)),
        files: new Set([EntryPoint, ...(Array.isArray(Files) ? Files : [])].filter((id) => isFile(plan, id))).size,
      };
    }),
    files: Object.entries(object(plan.Files)).map(([id, value]) => {
      const { Name, BodyType, Body } = object(value);
      const kind = text(BodyType);
      return { id, name: text(Name) || id, kind, text: kind === 'Text' || kind === '' ? text(Body) : null };
    }),
  };
}

const isFile = (plan: Record<string, unknown>, id: unknown): boolean => Object.hasOwn(object(plan.Files), text(id));

/** Returns the name of a file. An id that is not a file, such as the name of a function, is returned unchanged. */
const fileName = (plan: Record<string, unknown>, id: string): string =>
  text(object(isFile(plan, id) ? object(plan.Files)[id] : undefined).Name) || id;
