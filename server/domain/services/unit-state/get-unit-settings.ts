import { and, eq, sql } from 'drizzle-orm';
import type { z } from 'zod';
import { agents, goalStateHeads, serviceSettings } from '#db/schema/index.ts';
import { parseExactJson } from '#protocol/executions/exact-json.ts';
import type { serviceSettings as settingsDocument } from '#protocol/unit-runs.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { encryptForCertificate } from '#server/platform/cms.ts';
import { needsRelease } from '../release/needs-release.ts';
import { findUnit } from '../runs/find-unit.ts';
import { openServiceSecret } from '../settings/service-secret.ts';

type SettingsDocument = z.output<typeof settingsDocument>;

/**
 * Returns the settings of a unit's service in the version that the unit should have, defaults included (EN-76). The
 * protected settings are encrypted for the VM's certificate. Throws 404 `unit_unknown`, 409 `unit_needs_release`.
 */
export async function getUnitSettings(ctx: Context, vmId: string, name: string): Promise<SettingsDocument> {
  const unit = await findUnit(ctx.db, vmId, name);
  if (unit.removedAt !== null) throw new DomainError('not_found', 'unit_unknown');
  const { serviceId, settingsVersion: version } = unit;
  const [row] = await ctx.db
    .select({
      ...{ secret: serviceSettings.secret, certificate: goalStateHeads.certificate },
      ...{ thumbprint: goalStateHeads.thumbprint, effective: sql<string>`${serviceSettings.effective}::text` },
      ...{ setBy: serviceSettings.secretSetBy, enrolledAt: agents.enrolledAt },
      ...{ issuerKey: agents.issuerKey, issuerIsAdmin: agents.issuerIsAdmin },
    })
    .from(serviceSettings)
    .leftJoin(goalStateHeads, eq(goalStateHeads.vmId, vmId))
    .leftJoin(agents, eq(agents.vmId, vmId))
    .where(and(eq(serviceSettings.serviceId, serviceId), eq(serviceSettings.version, version)));
  if (row === undefined) throw new Error(`service ${serviceId} has no settings ${version}`);
  const machine = { ...row, releasedMachineAt: unit.releasedMachineAt };
  // Absent protected settings would look like a service without them (EN-60).
  if (needsRelease({ hasSecret: row.secret !== null, setBy: row.setBy }, machine)) {
    throw new DomainError('conflict', 'unit_needs_release');
  }
  const document = { version, settings: textsOf(row.effective) };
  const { secret, certificate, thumbprint } = row;
  if (secret === null || certificate === null || thumbprint === null) return document;
  const plain = openServiceSecret(ctx, { serviceId, version, secret });
  const cms = encryptForCertificate(certificate, plain);
  plain.fill(0);
  return { ...document, protectedSettings: cms.toString('base64'), protectedSettingsCertThumbprint: thumbprint };
}

/** Returns the JSON text of each value, with numbers as they were written (EN-42). */
export function textsOf(json: string): Record<string, string> {
  const values = Object.entries(parseExactJson(json) as Record<string, unknown>);
  return Object.fromEntries(values.map(([key, value]) => [key, JSON.stringify(value)]));
}
