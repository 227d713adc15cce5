import type { ScreenshotStage } from '../stage.ts';
import { button, choose, press, type Subject, type SubjectAct, subject } from './subject.ts';

/** The list of models, and models in each state. */
export function modelPages({ models }: ScreenshotStage): Subject[] {
  const at = (name: keyof typeof models) => `/models/${models[name]}`;
  const isViewer = { who: 'viewer' } as const;
  const floats = { floats: true };
  return [
    subject('models-viewer', '/models', undefined, isViewer),
    subject('models-new', '/models', press('models:new'), floats),
    subject('models-account', '/models', press('models:accounts.new'), floats),
    subject(
      'models-delete-account',
      '/models',
      choose(['models:accounts.delete.label', { name: 'unused' }], null),
      floats,
    ),
    subject('model-fresh', at('fresh')),
    subject('model-fresh-viewer', at('fresh'), undefined, isViewer),
    subject('model-bootstrap', at('fresh'), press('models:act.bootstrap'), floats),
    subject('model-sets', at('sets')),
    subject('model-staged', at('staged')),
    subject('model-swap', at('staged'), ({ page, say }) => button(page, say('models:act.swap')).click(), floats),
    subject('model-failed', at('failed')),
    subject('model-failed-viewer', at('failed'), undefined, isViewer),
    subject(
      'model-large',
      at('large'),
      async ({ page, say }) => {
        await page.getByRole('button', { name: say('models:topology.rest', { count: 100 }) }).scrollIntoViewIfNeeded();
      },
      floats,
    ),
    subject('model-destroying', at('failed'), destroying),
    subject('model-cards-failed', at('failed'), failCards),
    subject('model-viewer', at('few'), undefined, isViewer),
    subject('model-no-match', at('few'), async ({ page, say }) => {
      await page.getByRole('searchbox', { name: say('models:topology.search') }).fill('nothing at all');
    }),
    subject('model-add', at('few'), press('models:act.addMachine'), floats),
    subject('model-menu', at('few'), choose(['models:role.more', { name: 'few-1' }], null), floats),
    subject('model-enroll', at('few'), ({ page, say }) => button(page, say('models:role.enroll')).click(), floats),
    subject('model-remove', at('few'), choose(['models:role.more', { name: 'few-1' }], 'models:act.remove'), floats),
    subject('model-destroy', at('few'), choose(['models:head.more'], 'models:act.destroy'), floats),
  ];
}

/** Opens a port, which reloads the page's data, and shows the model as if it was being destroyed. */
const destroying: SubjectAct = async ({ page, say, stage: { api, models } }) => {
  await page.route('**/api/trpc/**models.get**', async (route) => {
    const response = await route.fetch();
    const since = new Date(Date.now() - 190_000).toISOString();
    const text = (await response.text())
      .replaceAll('"life":"alive"', '"life":"destroying"')
      .replaceAll('"destroyingSince":null', `"destroyingSince":"${since}"`);
    await route.fulfill({ response, body: text });
  });
  interface Topology {
    cloudServices: { deployments: { roles: { id: string }[] }[] }[];
  }
  const { cloudServices } = await api<Topology>('GET', `/models/${models.failed}/topology`);
  const id = cloudServices[0]?.deployments[0]?.roles[0]?.id;
  const port = 20_000 + Math.floor(Math.random() * 10_000);
  await api('PUT', `/instances/${id}/endpoints/tcp/${port}`, { set: false });
  await page.getByText(say('models:head.destroying')).first().waitFor();
  await api('DELETE', `/instances/${id}/endpoints/tcp/${port}`);
};

/** Lets the requests for machines fail, which the page then reloads. */
const failCards: SubjectAct = async ({ page, say }) => {
  await page.route('**/api/trpc/**models.**', (route) => route.abort());
  await page.getByText(say('models:topology.stale')).first().waitFor();
};
