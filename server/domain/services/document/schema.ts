import { z } from 'zod';
import { namedValues } from '#protocol/named-values.ts';
import { isServiceName } from '#protocol/unit-names.ts';
import { createModelInput, topologyLimits } from '#server/domain/topology/input.ts';
import { serviceBody, serviceLimits } from '../input.ts';
import { addRelationInput } from '../relations/input.ts';

/** The version of the format of documents. */
export const documentFormat = 1;

/** Limits of the document of a model. `bytes`: of its text. `newUnits`: how many units one document can add. */
export const documentLimits = { bytes: 4 * 1024 * 1024, relations: 2_000, machines: 1_000, newUnits: 500 };

const machine = z
  .number()
  .int()
  .min(0)
  .max(2 ** 31 - 1);

const units = z.union([
  z.number().int().min(0).max(serviceLimits.units),
  z.strictObject({ to: z.array(machine).max(serviceLimits.units) }),
]);

/** Units in Staging. `version`: the formula's version that they have, by default that of the service. */
const staging = z.strictObject({
  units: z.number().int().min(0).max(serviceLimits.units),
  version: serviceBody.shape.version.optional(),
});

/** `kept`: the service keeps its protected settings. */
const protectedSettings = z.union([z.literal('kept'), z.null(), namedValues(z.string().max(255), z.unknown())]);

const documentService = serviceBody
  .omit({ to: true, units: true, protectedSettings: true })
  .extend({ units: units.optional(), staging: staging.optional(), protectedSettings: protectedSettings.optional() });
export type DocumentService = z.output<typeof documentService>;

/** Adds a fault for every name that no service can have, and for more services than a model can have. */
function checkServiceNames(services: Readonly<Record<string, unknown>>, ctx: z.core.$RefinementCtx): void {
  const names = Object.keys(services);
  const { services: limit } = serviceLimits;
  if (names.length > limit) {
    ctx.addIssue({ code: 'custom', message: 'services_too_many', params: { limit }, input: services });
    return;
  }
  for (const name of names.filter((each) => !isServiceName(each))) {
    ctx.addIssue({ code: 'custom', message: 'service_name_form', input: name, path: [name] });
  }
}

/**
 * A model as one document: what operators declare, without ids, times and secrets. What a document leaves out stays as
 * it is, unless it is applied with `prune`. `units` are those in Production. Numbers in `to` and `machines` are those of machines in a model without
 * availability sets; `machines` lists those without units.
 */
export const modelDocument = z
  .strictObject({
    annex: z.literal(documentFormat),
    model: createModelInput.shape.name,
    location: createModelInput.shape.location,
    storageAccount: createModelInput.shape.storageAccount,
    availabilitySetsEnabled: z.boolean().optional(),
    controllers: z.number().int().min(0).max(topologyLimits.controllers).optional(),
    machines: z.array(machine).max(documentLimits.machines).optional(),
    services: namedValues(z.string(), documentService).superRefine(checkServiceNames).default({}),
    relations: z.array(addRelationInput.shape.endpoints).max(documentLimits.relations).default([]),
  })
  .meta({ id: 'ModelDocument' });
export type ModelDocument = z.output<typeof modelDocument>;
