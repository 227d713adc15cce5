import { z } from 'zod';

/**
 * The only name that a setting or tag cannot have. `z.record` drops a property with this name, including in agents of
 * earlier releases, so the value would be lost without an error.
 */
const reserved = '__proto__';

/** Adds the fault `name_reserved` if an object has a property with the reserved name. */
export function rejectReservedName(value: unknown, ctx: z.core.$RefinementCtx): void {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, reserved)) return;
  ctx.addIssue({ code: 'custom', message: 'name_reserved', input: value, path: [reserved] });
}

/** Values keyed by names that people choose, such as tags. Like `z.record`, but rejects the reserved name. */
export function namedValues<Value extends z.ZodType>(name: z.ZodString, value: Value) {
  return z.preprocess(
    (input: Record<string, z.input<Value>>, ctx) => {
      rejectReservedName(input, ctx);
      return input;
    },
    z.record(name, value),
  );
}

/**
 * Values keyed by names that a plan chooses. Like `z.record`, but keeps a value named `__proto__`, because every name
 * is valid in a plan.
 */
export function anyNamed<Value extends z.ZodType>(value: Value) {
  return z
    .custom<Record<string, z.input<Value>>>(
      (input) => typeof input === 'object' && input !== null && !Array.isArray(input),
      { error: 'field_not_object' },
    )
    .meta({ type: 'object' })
    .transform((input, ctx): Record<string, z.output<Value>> => {
      const read = Object.entries(input).map(([name, each]) => ({ name, ...value.safeParse(each) }));
      for (const { name, error } of read) {
        for (const issue of error?.issues ?? []) {
          ctx.issues.push({ ...issue, input, path: [name, ...issue.path] } as z.core.$ZodRawIssue);
        }
      }
      // `Object.fromEntries` makes `__proto__` an ordinary property.
      return Object.fromEntries(read.map(({ name, data }) => [name, data as z.output<Value>]));
    });
}
