import { z } from 'zod';
import { planSwap, swap } from '#server/domain/services/index.ts';
import {
  closeEndpoint,
  listEndpoints,
  publicEndpoints,
  setEndpoint,
  setEndpointAnswer,
  swapPlan,
} from '#server/domain/topology/index.ts';
import { planSwapInput, setEndpointInput } from '#server/domain/topology/input.ts';
import { portProtocols } from '#server/domain/topology-rules/words.ts';
import { type RestRoute, route } from '../route.ts';
import { inModel } from '../shapes.ts';

const atPort = z.object({
  id: z.string().max(200).describe('The instance id.'),
  protocol: z.enum(portProtocols),
  port: z
    .string()
    .regex(/^[1-9]\d{0,4}$/, { abort: true })
    .transform(Number)
    .pipe(z.number().max(65_535)),
});
const inService = z.object({ name: planSwapInput.shape.cloudService });

export const topologyRoutes: readonly RestRoute[] = [
  route({
    method: 'GET',
    path: '/models/{model}/endpoints',
    operationId: 'listEndpoints',
    summary:
      'Lists the ports of a model with the instances to which they lead, for example for a load balancer outside of Annex.',
    role: 'viewer',
    params: inModel,
    answers: { 200: { meaning: 'The ports.', schema: publicEndpoints.extend({ nextCursor: z.null() }) } },
    refusals: [404],
    run: async (ctx, { params }) => ({
      status: 200,
      body: { ...(await listEndpoints(ctx, params)), nextCursor: null },
    }),
  }),
  route({
    method: 'PUT',
    path: '/instances/{id}/endpoints/{protocol}/{port}',
    operationId: 'setEndpoint',
    summary:
      'Opens a port of a role. With `set`, several roles of the deployment share the port; otherwise it belongs to this role (`port_conflict`). An identical request changes nothing.',
    role: 'operator',
    params: atPort,
    body: setEndpointInput.pick({ localPort: true, set: true }).strict(),
    takesIfMatch: true,
    answers: { 200: { meaning: 'The endpoint.', schema: setEndpointAnswer } },
    refusals: [404, 409, 412],
    run: async (ctx, { params: { id, ...port }, body, ifMatch }) => ({
      status: 200,
      body: await setEndpoint(ctx, { instance: id, ...port, ...body, ifMatch }),
    }),
  }),
  route({
    method: 'DELETE',
    path: '/instances/{id}/endpoints/{protocol}/{port}',
    operationId: 'closeEndpoint',
    summary: 'Closes a port that an operator opened. Connections to the port are ended.',
    role: 'operator',
    params: atPort,
    takesIfMatch: true,
    answers: { 204: { meaning: 'The port is closed.' } },
    refusals: [404, 409, 412],
    run: async (ctx, { params: { id, ...port }, ifMatch }) => {
      await closeEndpoint(ctx, { instance: id, ...port, ifMatch });
      return { status: 204 };
    },
  }),
  route({
    method: 'POST',
    path: '/cloud-services/{name}/swap/plan',
    operationId: 'planSwap',
    summary:
      'Shows what swapping the deployments of a cloud service would do, without writing anything. A swap with the returned `planHash` is rejected if its effect would differ from the plan.',
    role: 'operator',
    params: inService,
    answers: { 200: { meaning: 'The plan.', schema: swapPlan } },
    refusals: [404, 409],
    run: async (ctx, { params }) => ({ status: 200, body: await planSwap(ctx, { cloudService: params.name }) }),
  }),
  route({
    method: 'POST',
    path: '/cloud-services/{name}/swap',
    operationId: 'swapDeployments',
    summary:
      'Exchanges the deployments in Production and Staging. A single deployment moves to the other slot. With `plan`, the request is rejected unless its effect is that of the plan.',
    role: 'operator',
    params: inService,
    query: z.object({ plan: z.string().min(1).max(100).optional() }),
    takesIfMatch: true,
    answers: { 200: { meaning: 'What the swap did.', schema: swapPlan } },
    refusals: [404, 409, 412],
    run: async (ctx, { params, query, ifMatch }) => ({
      status: 200,
      body: await swap(ctx, { cloudService: params.name, ...query, ifMatch }),
    }),
  }),
];
