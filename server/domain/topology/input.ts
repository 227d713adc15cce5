import { z } from 'zod';
import { givenText } from '#protocol/file.ts';
import { isModelName, maxModelName } from '#server/domain/topology-rules/names.ts';
import { portProtocols } from '#server/domain/topology-rules/words.ts';
import { vmId } from '#server/domain/vms/input.ts';

/** Limits of a model. Forms use these limits too. */
export const topologyLimits = { location: 64, controllers: 7, instanceIds: 1_000, endpoints: 256 };

/** The name of a model in a path, which may name none. */
export const modelRef = z.string().max(100);

/** The name of a new model. Its cloud services have longer names, which may have at most 63 characters. */
export const modelName = z
  .string()
  .min(1, { abort: true })
  .max(maxModelName, { abort: true })
  .refine(isModelName, 'model_name_form');

export const storageAccountName = z.string().regex(/^[a-z0-9]{3,24}$/, 'storage_account_name_form');

const location = givenText(topologyLimits.location);

export const setStorageAccountInput = z.object({ name: storageAccountName, location });
export type SetStorageAccountInput = z.input<typeof setStorageAccountInput>;

export const deleteStorageAccountInput = z.object({ name: z.string().max(100) });
export type DeleteStorageAccountInput = z.input<typeof deleteStorageAccountInput>;

export const createModelInput = z.object({
  name: modelName,
  location,
  storageAccount: storageAccountName,
  availabilitySetsEnabled: z.boolean().optional(),
});
export type CreateModelInput = z.input<typeof createModelInput>;

/** `ifMatch`: the revision that the caller saw. The request is rejected if the current revision differs. */
const inModel = z.object({ model: modelRef, ifMatch: z.number().int().min(0).optional() });

export const getModelInput = z.object({ model: modelRef });
export type GetModelInput = z.input<typeof getModelInput>;

export const changeModelInput = inModel.extend({ availabilitySetsEnabled: z.boolean() });
export type ChangeModelInput = z.input<typeof changeModelInput>;

export const bootstrapModelInput = inModel.extend({
  controllers: z.number().int().min(0).max(topologyLimits.controllers).default(0),
});
export type BootstrapModelInput = z.input<typeof bootstrapModelInput>;

/** `confirm` must be the name of the model. `force`: do not wait for agents to uninstall extensions. */
export const destroyModelInput = inModel.extend({
  confirm: z.string().max(100).optional(),
  force: z.boolean().default(false),
});
export type DestroyModelInput = z.input<typeof destroyModelInput>;

export const addMachineInput = inModel;
export type AddMachineInput = z.input<typeof addMachineInput>;

/**
 * `address`: the address of the machine in the network of the model, if units should use another address than the
 * provider assigns .
 */
export const adoptMachineInput = inModel.extend({ vmId, address: z.ipv4().optional() });
export type AdoptMachineInput = z.input<typeof adoptMachineInput>;

export const removeMachineInput = inModel.extend({
  machine: z
    .number()
    .int()
    .min(0)
    .max(2 ** 31 - 1),
  force: z.boolean().default(false),
});
export type RemoveMachineInput = z.input<typeof removeMachineInput>;

export const listInstancesInput = z.object({
  model: modelRef,
  ids: z.array(z.string().max(200)).max(topologyLimits.instanceIds),
});
export type ListInstancesInput = z.input<typeof listInstancesInput>;

/** `instance` is the instance id. */
export const renewPasswordInput = z.object({ instance: z.string().max(200) });
export type RenewPasswordInput = z.input<typeof renewPasswordInput>;

export const renewTokenInput = z.object({ vmId });
export type RenewTokenInput = z.input<typeof renewTokenInput>;
/** A TCP or UDP port. */
export const portNumber = z.number().int().min(1).max(65_535);

/** A port of a role. `instance` is the instance id. */
const ofInstance = z.object({
  instance: z.string().max(200),
  protocol: z.enum(portProtocols),
  port: portNumber,
  ifMatch: z.number().int().min(0).optional(),
});

/**
 * `localPort`: the port on the machine, by default the public port. `set`: whether several roles may share the port.
 */
export const setEndpointInput = ofInstance.extend({
  localPort: portNumber.optional(),
  set: z.boolean().default(false),
});
export type SetEndpointInput = z.input<typeof setEndpointInput>;

export const closeEndpointInput = ofInstance;
export type CloseEndpointInput = z.input<typeof closeEndpointInput>;

export const planSwapInput = z.object({ cloudService: z.string().max(100) });
export type PlanSwapInput = z.input<typeof planSwapInput>;

/** `plan`: the hash of a plan. The request is rejected if it would have a different effect. */
export const swapInput = planSwapInput.extend({
  plan: z.string().min(1).max(100).optional(),
  ifMatch: z.number().int().min(0).optional(),
});
export type SwapInput = z.input<typeof swapInput>;
