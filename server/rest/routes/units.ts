import { z } from 'zod';
import {
  connectUnit,
  getUnit,
  releasedUnits,
  releaseUnitSecrets,
  removeUnit,
  resolvedHooks,
  resolveUnit,
  unit,
  unitConnection,
} from '#server/domain/services/index.ts';
import { releaseUnitSecretsInput, resolveUnitInput } from '#server/domain/services/input.ts';
import { flag, type RestRoute, route } from '../route.ts';
import { inUnit } from '../shapes.ts';

const named = ({ model, service, number }: z.output<typeof inUnit>) => ({ model, unit: `${service}/${number}` });

export const unitRoutes: readonly RestRoute[] = [
  route({
    method: 'GET',
    path: '/models/{model}/units/{service}/{number}',
    operationId: 'getUnit',
    summary: 'Returns a unit, even one that was removed.',
    role: 'viewer',
    params: inUnit,
    answers: { 200: { meaning: 'The unit.', schema: unit } },
    refusals: [404],
    run: async (ctx, { params }) => ({ status: 200, body: await getUnit(ctx, named(params)) }),
  }),
  route({
    method: 'GET',
    path: '/models/{model}/units/{service}/{number}/connect',
    operationId: 'connectUnit',
    summary:
      'Returns how to connect to the machine of a unit: by its internal address, through a controller or the portal.',
    role: 'operator',
    params: inUnit,
    answers: { 200: { meaning: 'The connection.', schema: unitConnection } },
    refusals: [404, 409],
    run: async (ctx, { params }) => ({ status: 200, body: await connectUnit(ctx, named(params)) }),
  }),
  route({
    method: 'DELETE',
    path: '/models/{model}/units/{service}/{number}',
    operationId: 'removeUnit',
    summary:
      'Begins to remove a unit: its agent runs the last hooks. `force=true` removes it without its agent, and everything on the machine stays as it is.',
    role: 'operator',
    params: inUnit,
    query: z.object({ force: flag }),
    takesIfMatch: true,
    answers: { 202: { meaning: 'The unit is being removed, or is removed.' } },
    refusals: [404, 412],
    run: async (ctx, { params, query, ifMatch }) => {
      await removeUnit(ctx, { ...named(params), ...query, ifMatch });
      return { status: 202 };
    },
  }),
  route({
    method: 'POST',
    path: '/models/{model}/units/{service}/{number}/release',
    operationId: 'releaseUnitSecrets',
    summary:
      'Releases the protected settings of a service that are withheld from the machine of a unit. The release holds until another machine enrolls. With `thumbprint`, only for this certificate (`key_changed`).',
    role: 'admin',
    params: inUnit,
    query: z.object({ thumbprint: releaseUnitSecretsInput.shape.thumbprint }),
    answers: { 200: { meaning: 'The unit, if it waited.', schema: releasedUnits } },
    refusals: [404, 412],
    run: async (ctx, { params, query }) => ({
      status: 200,
      body: await releaseUnitSecrets(ctx, { ...named(params), ...query }),
    }),
  }),
  route({
    method: 'POST',
    path: '/models/{model}/units/{service}/{number}/resolve',
    operationId: 'resolveUnit',
    summary:
      'Decides on a hook that fails, by the run that failed last: with `retry`, it runs again now; otherwise the unit skips it. A newer failure is not resolved (`run_not_failing`).',
    role: 'operator',
    params: inUnit,
    body: resolveUnitInput.pick({ run: true, retry: true }).strict(),
    answers: { 200: { meaning: 'The hook that was decided on.', schema: resolvedHooks } },
    refusals: [404, 409],
    run: async (ctx, { params, body }) => ({
      status: 200,
      body: await resolveUnit(ctx, { ...named(params), ...body }),
    }),
  }),
];
