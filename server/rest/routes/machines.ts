import { z } from 'zod';
import { removeMachine } from '#server/domain/services/index.ts';
import {
  addMachine,
  adoptedMachine,
  adoptMachine,
  instances,
  listInstances,
  newMachine,
  renewPassword,
  rolePassword,
} from '#server/domain/topology/index.ts';
import { adoptMachineInput } from '#server/domain/topology/input.ts';
import { flag, type RestRoute, route } from '../route.ts';
import { inModel } from '../shapes.ts';

export const machineRoutes: readonly RestRoute[] = [
  route({
    method: 'POST',
    path: '/models/{model}/machines',
    operationId: 'addMachine',
    summary:
      'Adds a machine to a model without availability sets, and returns the command that enrolls it. With `vmId`, adopts an enrolled VM instead: its name, tags and extensions stay as they are, even after the machine is removed. If a step fails, what the request created is deleted (`provider_failed`).',
    role: 'operator',
    params: inModel,
    body: adoptMachineInput.pick({ vmId: true, address: true }).partial().strict(),
    takesIfMatch: true,
    answers: {
      200: { meaning: 'The machine, whose VM existed before.', schema: adoptedMachine },
      201: { meaning: 'The machine, with its enrollment token and password.', schema: newMachine },
    },
    refusals: [404, 409, 412],
    run: async (ctx, { params, body: { vmId, address }, ifMatch }) => {
      if (vmId !== undefined) {
        return { status: 200, body: await adoptMachine(ctx, { ...params, vmId, address, ifMatch }) };
      }
      const body = await addMachine(ctx, { ...params, ifMatch });
      return { status: 201, body, headers: { 'cache-control': 'no-store' } };
    },
  }),
  route({
    method: 'DELETE',
    path: '/models/{model}/machines/{machine}',
    operationId: 'removeMachine',
    summary:
      'Begins to remove a machine. Its extensions are uninstalled first, unless `force=true`; then its VM and its role are deleted and, with the last role, its cloud service. A machine with units is not removed (`vm_has_units`), unless `force=true`; its units are then removed too.',
    role: 'operator',
    params: inModel.extend({ machine: z.coerce.number().int().min(0) }),
    query: z.object({ force: flag }),
    takesIfMatch: true,
    answers: { 202: { meaning: 'The machine is being removed.' } },
    refusals: [404, 409, 412],
    run: async (ctx, { params, query, ifMatch }) => {
      await removeMachine(ctx, { ...params, ...query, ifMatch });
      return { status: 202 };
    },
  }),
  route({
    method: 'GET',
    path: '/models/{model}/instances',
    operationId: 'listInstances',
    summary:
      'Returns instances of a model in the order of `ids`. An unknown id has null in its place, and `partial` is true.',
    role: 'viewer',
    params: inModel,
    query: z.object({
      ids: z
        .string()
        .max(200_000)
        .default('')
        .transform((text) => (text === '' ? [] : text.split(',')))
        .describe('Instance ids, separated by commas.'),
    }),
    answers: { 200: { meaning: 'The instances.', schema: instances } },
    refusals: [404, 409],
    run: async (ctx, { params, query }) => ({
      status: 200,
      body: await listInstances(ctx, { ...params, ...query }),
    }),
  }),
  route({
    method: 'POST',
    path: '/instances/{id}/password',
    operationId: 'renewPassword',
    summary:
      'Replaces the password of the first user of a role with a new random one. Annex stores it encrypted, and does not change it on the machine.',
    role: 'operator',
    params: z.object({ id: z.string().max(200).describe('The instance id.') }),
    answers: { 200: { meaning: 'The new password, shown only once.', schema: rolePassword } },
    refusals: [404, 409],
    run: async (ctx, { params }) => ({
      status: 200,
      body: await renewPassword(ctx, { instance: params.id }),
      headers: { 'cache-control': 'no-store' },
    }),
  }),
];
