import { type Browser, chromium } from '@playwright/test';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { patience } from '#server/testing/amqp-stage.ts';
import { type RabbitMq, startRabbitMq } from '#server/testing/rabbitmq.ts';
import { createAuthority } from '#server/testing/tls-authority.ts';
import { Api } from '../support/api.ts';
import { chromiumLaunch } from '../support/browser.ts';
import { People } from '../support/people.ts';
import { type Portal, startPortal } from '../support/portal.ts';
import { AgentProcess } from './agent-process.ts';

let broker: RabbitMq;
let portal: Portal;
let browser: Browser;
let ca: string;
const agents: AgentProcess[] = [];
beforeAll(async () => {
  const authority = await createAuthority();
  ({ ca } = authority);
  broker = await startRabbitMq({ tls: await authority.issue('localhost') });
  portal = await startPortal({ ANNEX_AMQP_URL: broker.url, ANNEX_AMQP_CA: ca });
  browser = await chromium.launch(await chromiumLaunch());
});
afterAll(async () => {
  for (const agent of agents) await agent.remove();
  await browser?.close();
  await portal?.remove();
  await broker?.remove();
});

test('npm start with ANNEX_AMQP_URL: a machine that reaches only the broker runs plans, and the page follows the broker', async () => {
  const api = new Api(portal);
  const page = await browser.newPage(await new People(portal).browserOf('admin'));
  await page.goto('/settings/amqp');
  const shown = () => page.locator('main').textContent();
  await expect.poll(shown, patience).toMatch(/Connection\s*Connected/);

  const { id } = await api.createVm('behind-the-broker');
  const { inputQueue } = await api.call<{ inputQueue: string }>('PUT', `/vms/${id}/execution-channel`, {
    body: { dialect: 'annex' },
  });
  const settings = { amqpHost: 'localhost', amqpPort: broker.port, amqpCa: ca, amqpInputQueue: inputQueue };
  const agent = new AgentProcess(settings);
  agents.push(agent);
  agent.start();
  const run = () =>
    api.call<{ id: string }>('POST', `/vms/${id}/executions`, {
      body: { plan: { FormatVersion: '2.0.0', Body: 'return 6 * 7' } },
    });
  const resultOf = async (execution: { id: string }) => {
    const path = `/vms/${id}/executions/${execution.id}`;
    const state = async () => (await api.call<{ state: string }>('GET', path)).state;
    await expect.poll(state, patience).toBe('succeeded');
    return (await api.call<{ Body: unknown }>('GET', `${path}/result`)).Body;
  };
  expect(await resultOf(await run())).toBe(42);

  await broker.stop();
  await expect.poll(shown, patience).toMatch(/Not connected.+Problem/s);
  const waiting = await run();
  await broker.start();
  expect(await resultOf(waiting)).toBe(42);
  await expect.poll(shown, patience).toMatch(/Connection\s*Connected/);
});
