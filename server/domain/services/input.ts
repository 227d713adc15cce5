import { z } from 'zod';
import { hookSeconds } from '#protocol/formula-words.ts';
import { namedValues } from '#protocol/named-values.ts';
import { isServiceName, isUnitName, maxServiceNameLength } from '#protocol/unit-names.ts';
import { releaseSecretsInput } from '#server/domain/goal-states/input.ts';
import { handlerId, handlerVersion } from '#server/domain/packages/input.ts';
import { modelRef } from '#server/domain/topology/input.ts';
import { slots } from '#server/domain/topology-rules/words.ts';

/** Limits of services and units. Forms use these limits too. */
export const serviceLimits = { services: 500, units: 1_000, unitsAtOnce: 100, unitsOfVm: 64, settingsBytes: 64_000 };

const ifMatch = z.number().int().min(0).optional();
const machine = z
  .number()
  .int()
  .min(0)
  .max(2 ** 31 - 1);
const settings = namedValues(z.string().max(255), z.unknown());
const seconds = z.number().int().min(1).max(hookSeconds.maximum);
/** The name of a hook in `timeouts`; `default` is the limit of all other hooks. */
const hookName = z
  .string()
  .max(128)
  .regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/);
const atOnce = z.strictObject({
  atOnce: z.union([z.number().int().min(1).max(serviceLimits.units), z.literal('all')]),
});

/** The name of a service in a path, which may name none. */
export const serviceRef = z.string().max(100);

/** The name of a new service. */
export const serviceName = z
  .string()
  .min(1, { abort: true })
  .max(maxServiceNameLength, { error: 'service_name_form', abort: true })
  .refine(isServiceName, 'service_name_form');

/** `<service>/<number>` (EN-2). */
export const unitRef = z.string().refine(isUnitName, 'unit_name_form');

/**
 * What operators declare of a service. Omitted fields of an existing service keep their values; `protectedSettings`
 * null removes them. `units`: how many units the service has in Production; of fewer, those with the highest numbers are removed.
 * `to`: the machine that new units are placed on.
 */
export const serviceBody = z.strictObject({
  formula: handlerId,
  version: handlerVersion,
  units: z.number().int().min(0).max(serviceLimits.units).optional(),
  to: machine.optional(),
  exposed: z.boolean().optional(),
  settings: settings.optional(),
  protectedSettings: settings.nullable().optional(),
  timeouts: z.record(hookName, seconds).optional(),
  upgrade: atOnce.optional(),
  configure: atOnce.optional(),
});

/** `isNew`: reject the name of a service that exists, instead of changing this service. */
export const setServiceInput = serviceBody.extend({
  ...{ model: modelRef, service: serviceName, ifMatch },
  isNew: z.boolean().optional(),
});
export type SetServiceInput = z.input<typeof setServiceInput>;

export const listServicesInput = z.object({ model: modelRef });
export type ListServicesInput = z.input<typeof listServicesInput>;

export const getServiceInput = z.object({ model: modelRef, service: serviceRef });
export type GetServiceInput = z.input<typeof getServiceInput>;

/** `force`: remove the units without their agents. Everything on the machines stays as it is. */
export const removeServiceInput = getServiceInput.extend({ force: z.boolean().default(false), ifMatch });
export type RemoveServiceInput = z.input<typeof removeServiceInput>;

/**
 * `slot`: the slot of the new machines, Production by default. `version`: the formula's version of all units that the
 * service has in Staging; without it they keep theirs, which is at first that of the service.
 */
export const addUnitsBody = z.strictObject({
  count: z.number().int().min(1).max(serviceLimits.unitsAtOnce),
  to: machine.optional(),
  slot: z.enum(slots).optional(),
  version: handlerVersion.optional(),
});
export const addUnitsInput = addUnitsBody.extend({ model: modelRef, service: serviceRef, ifMatch });
export type AddUnitsInput = z.input<typeof addUnitsInput>;

export const getUnitInput = z.object({ model: modelRef, unit: unitRef });
export type GetUnitInput = z.input<typeof getUnitInput>;

export const removeUnitInput = getUnitInput.extend({ force: z.boolean().default(false), ifMatch });
export type RemoveUnitInput = z.input<typeof removeUnitInput>;

/** `thumbprint`: the certificate of the machine that the admin reviewed. */
export const releaseUnitSecretsInput = getUnitInput.extend({ thumbprint: releaseSecretsInput.shape.thumbprint });
export type ReleaseUnitSecretsInput = z.input<typeof releaseUnitSecretsInput>;

export const releaseServiceSecretsInput = getServiceInput;
export type ReleaseServiceSecretsInput = z.input<typeof releaseServiceSecretsInput>;

/** `run`: the run that failed last. `retry`: whether to run the hook again, or to skip it. */
export const resolveUnitInput = getUnitInput.extend({ run: z.uuid(), retry: z.boolean() });
export type ResolveUnitInput = z.input<typeof resolveUnitInput>;

/** Without `service`, everything that fails in the model is resolved. */
export const resolveModelInput = z.object({ model: modelRef, service: serviceRef.optional(), retry: z.boolean() });
export type ResolveModelInput = z.input<typeof resolveModelInput>;
