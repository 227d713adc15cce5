import type { ScreenshotStage } from '../stage.ts';
import { button, choose, press, type Subject, subject } from './subject.ts';

/** The list of models, and models in each state. */
export function modelPages({ models }: ScreenshotStage): Subject[] {
  const at = (name: keyof typeof models) => `/models/${models[name]}`;
  const isViewer = { who: 'viewer' } as const;
  const floats = { floats: true };
  return [
    subject('models-viewer', '/models', undefined, isViewer),
    subject('models-new', '/models', press('models:new'), floats),
    subject('models-account', '/models', press('models:accounts.new'), floats),
    subject('model-fresh', at('fresh')),
    subject('model-fresh-viewer', at('fresh'), undefined, isViewer),
    subject('model-bootstrap', at('fresh'), press('models:act.bootstrap'), floats),
    subject('model-sets', at('sets')),
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
