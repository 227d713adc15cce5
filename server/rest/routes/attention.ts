import { z } from 'zod';
import { pageOf } from '#server/domain/answers.ts';
import {
  assignProblem,
  listAssignees,
  mark,
  possibleAssignee,
  snoozeProblem,
  unassignProblem,
  unsnoozeProblem,
} from '#server/domain/attention/index.ts';
import { assignment, snoozeTerms } from '#server/domain/attention/input.ts';
import { attention, fleetRow, listAttention, listAttentionVms } from '#server/domain/views/index.ts';
import { pageQuery, type RestRoute, route } from '../route.ts';
import { inProblem } from '../shapes.ts';

export const attentionRoutes: readonly RestRoute[] = [
  route({
    method: 'GET',
    path: '/attention',
    operationId: 'listAttention',
    summary:
      'Lists the problems of the fleet, worst first. Failed and degraded extensions are grouped by handler and cause, and unresponsive agents by the time at which they became unresponsive. Messages are in the language of Accept-Language.',
    role: 'viewer',
    query: z.object({ limit: z.coerce.number().int().min(1).max(500).optional() }),
    answers: { 200: { meaning: 'The open and the snoozed problems.', schema: attention } },
    refusals: [],
    run: async (ctx, { query, reader }) => ({ status: 200, body: await listAttention(ctx, { ...query, ...reader }) }),
  }),
  route({
    method: 'GET',
    path: '/attention/assignees',
    operationId: 'listAssignees',
    summary: 'Lists the members to whom a problem can be assigned: operators and admins.',
    role: 'operator',
    answers: { 200: { meaning: 'The members, by name.', schema: z.object({ items: z.array(possibleAssignee) }) } },
    refusals: [],
    run: async (ctx) => ({ status: 200, body: await listAssignees(ctx) }),
  }),
  route({
    method: 'GET',
    path: '/attention/{key}/vms',
    operationId: 'listAttentionVms',
    summary: 'Lists the VMs with a problem, by name.',
    role: 'viewer',
    params: inProblem,
    query: pageQuery.omit({ q: true }),
    answers: { 200: { meaning: 'A page of VMs.', schema: pageOf(fleetRow) } },
    refusals: [404],
    run: async (ctx, { params, query }) => ({
      status: 200,
      body: await listAttentionVms(ctx, { ...params, ...query }),
    }),
  }),
  route({
    method: 'PUT',
    path: '/attention/{key}/assignee',
    operationId: 'assignProblem',
    summary: 'Assigns a problem to a member, who replaces any earlier assignee.',
    role: 'operator',
    params: inProblem,
    body: assignment.strict(),
    answers: { 200: { meaning: 'The problem is assigned.', schema: mark } },
    refusals: [404],
    run: async (ctx, { params, body }) => ({ status: 200, body: await assignProblem(ctx, { ...params, ...body }) }),
  }),
  route({
    method: 'DELETE',
    path: '/attention/{key}/assignee',
    operationId: 'unassignProblem',
    summary: 'Removes the assignee of a problem. Changes nothing if the problem has none.',
    role: 'operator',
    params: inProblem,
    answers: { 204: { meaning: 'The problem is not assigned.' } },
    refusals: [404],
    run: async (ctx, { params }) => {
      await unassignProblem(ctx, params);
      return { status: 204 };
    },
  }),
  route({
    method: 'PUT',
    path: '/attention/{key}/snooze',
    operationId: 'snoozeProblem',
    summary:
      'Snoozes a problem until a time, or changes its snooze. Without `until`, the snooze ends when the problem affects more VMs or another version.',
    role: 'operator',
    params: inProblem,
    body: snoozeTerms.strict(),
    answers: { 200: { meaning: 'The problem is snoozed.', schema: mark } },
    refusals: [404],
    run: async (ctx, { params, body }) => ({ status: 200, body: await snoozeProblem(ctx, { ...params, ...body }) }),
  }),
  route({
    method: 'DELETE',
    path: '/attention/{key}/snooze',
    operationId: 'unsnoozeProblem',
    summary: 'Ends the snooze of a problem. Changes nothing if the problem is not snoozed.',
    role: 'operator',
    params: inProblem,
    answers: { 204: { meaning: 'The problem is not snoozed.' } },
    refusals: [404],
    run: async (ctx, { params }) => {
      await unsnoozeProblem(ctx, params);
      return { status: 204 };
    },
  }),
];
