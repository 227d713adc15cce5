import { z } from 'zod';
import { slots } from '#server/domain/topology-rules/words.ts';
import { deploymentView, getDeployment } from '#server/domain/views/index.ts';
import { type RestRoute, route } from '../route.ts';

export const cloudServiceRoutes: readonly RestRoute[] = [
  route({
    method: 'GET',
    path: '/cloud-services/{name}/deployments/{slot}',
    operationId: 'getDeployment',
    summary:
      'Returns the deployment in a slot of a cloud service: its availability set and, for each role, the agent, the endpoints, and the extensions with heartbeat and status in the language of Accept-Language.',
    role: 'viewer',
    params: z.object({ name: z.string().max(100), slot: z.enum(slots) }),
    answers: {
      200: {
        meaning: 'The deployment; Content-Language names the languages used.',
        schema: deploymentView.omit({ languages: true }).meta({ id: 'Deployment' }),
      },
    },
    refusals: [404],
    run: async (ctx, { params, reader }) => {
      const { languages, ...body } = await getDeployment(ctx, {
        cloudService: params.name,
        slot: params.slot,
        ...reader,
      });
      return {
        status: 200,
        body,
        ...(languages.length > 0 && { headers: { 'content-language': languages.join(', ') } }),
      };
    },
  }),
];
