import { z } from 'zod';
import { isServiceName, isUnitName } from '#protocol/unit-names.ts';
import { modelRef } from '#server/domain/topology/input.ts';

/** A service, or one of its endpoints: `mysql` or `mysql:db`. */
const endpointRef = z
  .string()
  .max(127)
  .refine((text) => text.split(':').length <= 2 && text.split(':').every(isServiceName), 'relation_endpoint_form');

const number = z
  .number()
  .int()
  .min(1)
  .max(2 ** 31 - 1);

/** `endpoints`: the two services, each with the endpoint’s name where several fit. */
export const addRelationInput = z.object({
  model: modelRef,
  endpoints: z.tuple([endpointRef, endpointRef]),
  ifMatch: z.number().int().min(0).optional(),
});
export type AddRelationInput = z.input<typeof addRelationInput>;

export const getRelationInput = z.object({ model: modelRef, number });
export type GetRelationInput = z.input<typeof getRelationInput>;

export const listRelationsInput = z.object({ model: modelRef });
export type ListRelationsInput = z.input<typeof listRelationsInput>;

export const removeRelationInput = getRelationInput.extend({ ifMatch: z.number().int().min(0).optional() });
export type RemoveRelationInput = z.input<typeof removeRelationInput>;

/** `at`: a value of the relation’s clock, or a time in ISO 8601. By default, the settings as they are now. */
export const relationSettingsInput = getRelationInput.extend({
  at: z.union([z.string().regex(/^\d{1,15}$/), z.iso.datetime({ offset: true })], 'relation_at_form').optional(),
});
export type RelationSettingsInput = z.input<typeof relationSettingsInput>;

export const revealNodeInput = relationSettingsInput.extend({ unit: z.string().refine(isUnitName, 'unit_name_form') });
export type RevealNodeInput = z.input<typeof revealNodeInput>;

const relationLogLimits = { default: 100, max: 500 };

/** `cursor`: where the page before ended. */
export const relationLogInput = getRelationInput.extend({
  cursor: z.string().max(200).optional(),
  limit: z.number().int().min(1).max(relationLogLimits.max).default(relationLogLimits.default),
});
export type RelationLogInput = z.input<typeof relationLogInput>;
