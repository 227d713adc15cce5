import { eq } from 'drizzle-orm';
import { extensions } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError, type Fault } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { findVersion, ruleFaults, settingsFaults } from './declare.ts';
import { type CheckExtensionInput, checkExtensionInput } from './input.ts';

/** Everything that a declaration would be refused for, without declaring it: an editor asks while people type. */
export async function checkExtension(ctx: Context, input: CheckExtensionInput): Promise<{ faults: readonly Fault[] }> {
  allow(ctx.actor, 'operator');
  const { vmId, name, goal } = parse(checkExtensionInput, input);
  try {
    const version = await findVersion(ctx.db, goal);
    const present = await ctx.db.select().from(extensions).where(eq(extensions.vmId, vmId));
    const kept = present.some((row) => row.name === name && row.secretId !== null);
    const faults = await settingsFaults(ctx, version, goal, kept);
    return { faults: [...ruleFaults(name, goal, version, present), ...faults] };
  } catch (error) {
    if (error instanceof DomainError && error.kind === 'unprocessable') return { faults: error.faults };
    throw error;
  }
}
