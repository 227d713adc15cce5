import { z } from 'zod';

/**
 * The only name that a setting or tag cannot have. `z.record` drops a property with this name, also in agents of
 * earlier releases, so the value would be lost without an error.
 */
const reserved = '__proto__';

/** Adds the fault `name_reserved` if an object has a property with the reserved name. */
export function rejectReservedName(value: unknown, ctx: z.core.$RefinementCtx): void {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, reserved)) return;
  ctx.addIssue({ code: 'custom', message: 'name_reserved', input: value, path: [reserved] });
}

/** Values by names that people choose, such as tags. Like `z.record`, but rejects the reserved name. */
export function namedValues<Value extends z.ZodType>(name: z.ZodString, value: Value) {
  return z.preprocess(
    (input: Record<string, z.input<Value>>, ctx) => {
      rejectReservedName(input, ctx);
      return input;
    },
    z.record(name, value),
  );
}
