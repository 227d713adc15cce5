import { z } from 'zod';
import type { FieldShape, FieldValue, TagFilter } from '#server/domain/fleet-field.ts';
import type { Selection, StoredFilter } from './stored.ts';

/** The schema of a filter of the VM list in a definition. */
export type FilterSchema = z.ZodType<StoredFilter>;

const maxIds = 10_000;
const id = z.uuid().transform((text) => text.toLowerCase());
const instant = /^[1-9]\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z$/;

/** Reads a tag, as the parameter `tag` of the VM list: `name=value`, or only the name, with `%25` and `%3D`. */
function readTag(text: string): TagFilter {
  const at = text.indexOf('=');
  const name = (at < 0 ? text : text.slice(0, at)).replaceAll('%3D', '=').replaceAll('%25', '%');
  return at < 0 ? { name } : { name, value: text.slice(at + 1) };
}

const fieldInput = (value: FieldValue): z.ZodType => {
  switch (value.kind) {
    case 'text': {
      const text = z.string().max(value.max);
      const isForm = (given: string) =>
        given === '' ||
        (given.length >= (value.min ?? 0) && (value.form === undefined || new RegExp(value.form).test(given)));
      return text.refine((given) => !given.includes('\0') && isForm(given), value.fault ?? 'field_format');
    }
    case 'words':
      return z.array(z.enum(value.words as [string, ...string[]])).max(value.words.length);
    case 'number':
      return z.number().int().min(value.min).max(value.max);
    case 'time':
      return z
        .string()
        .max(27)
        .refine((given) => given === '' || (instant.test(given) && !Number.isNaN(Date.parse(given))), 'field_format');
    case 'tags':
      return z
        .array(
          z
            .string()
            .transform(readTag)
            .refine(
              ({ name, value: of = '' }) =>
                name !== '' && name.length <= value.max && of.length <= value.max && !`${name}${of}`.includes('\0'),
              'field_format',
            ),
        )
        .max(value.count);
  }
};

const isPart = (value: unknown): boolean =>
  value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0);

/**
 * Returns the schema of filters in definitions, with the names of the VM list's query, and tags as text. Empty lists
 * and texts are left out. Unknown fields are rejected, so that a filter never matches more than it says.
 */
export function filterInput(fields: readonly Pick<FieldShape, 'name' | 'value'>[]): FilterSchema {
  const shape = Object.fromEntries(fields.map(({ name, value }) => [name, fieldInput(value).optional()]));
  return z
    .strictObject(shape)
    .transform((filter) => Object.fromEntries(Object.entries(filter).filter(([, value]) => isPart(value))));
}

/** Returns a schema that also rejects filters without any condition. */
export const conditionsInput = (filter: FilterSchema) =>
  filter.refine((given) => Object.values(given).some(isPart), 'selection_empty');

/** A selection: ids, a filter with at least one condition, or all VMs; nothing else selects a VM. */
export function selectionInput(filter: FilterSchema) {
  const conditions = conditionsInput(filter);
  return z
    .strictObject({
      ids: z
        .array(id)
        .min(1, 'selection_empty')
        .max(maxIds, 'selection_too_large')
        .transform((ids) => [...new Set(ids)])
        .optional(),
      all: z.literal(true).optional(),
      include: conditions.optional(),
      exclude: conditions.optional(),
    })
    .superRefine(({ ids, all, include, exclude }, ctx) => {
      const fault = (message: string, path: string[]) => ctx.addIssue({ code: 'custom', message, path, input: path });
      if (ids === undefined && all === undefined && include === undefined) fault('selection_empty', []);
      if (ids !== undefined && exclude !== undefined) fault('selection_twice', ['exclude']);
      if (all !== undefined && (ids !== undefined || include !== undefined)) fault('selection_twice', ['all']);
      else if (ids !== undefined && include !== undefined) fault('selection_twice', ['include']);
    })
    .transform(({ ids, all, include, exclude }): Selection => {
      if (ids !== undefined) return { ids };
      const except = exclude === undefined ? {} : { exclude };
      return all === true || include === undefined ? { all: true, ...except } : { include, ...except };
    });
}
