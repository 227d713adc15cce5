import type { ScreenshotStage } from '../stage.ts';
import { button, type Scene, type Subject, type SubjectAct, subject, typeKeys } from './subject.ts';

/** The sign-in pages, and parts that all pages share. */
export function signInAndShell(stage: ScreenshotStage): Subject[] {
  return [
    subject('set-up-join', stage.invitation, undefined, { who: 'guest' }),
    subject('sign-in-wrong', '/sign-in', signIn('nobody@example.org', 'not the password'), { who: 'guest' }),
    subject(
      'sign-in-code',
      '/sign-in',
      ({ stage: { guarded }, ...scene }) => signIn(guarded.email, guarded.password)({ ...scene, stage }),
      { who: 'guest' },
    ),
    subject('not-found', '/nowhere', undefined, { who: 'guest' }),
    subject('palette', '/handlers', typeKeys('Control+k', 'files'), { floats: true }),
    subject('palette-nothing', '/handlers', typeKeys('Control+k', 'nothing at all'), { floats: true }),
    subject('keys', '/vms', typeKeys('?'), { floats: true }),
    subject(
      'account-menu',
      '/handlers',
      ({ page, say }) =>
        page
          .getByRole('button', { name: say('navigation:account') })
          .locator('visible=true')
          .click(),
      { floats: true },
    ),
    subject('connection-lost', '/vms', loseConnection),
  ];
}

function signIn(email: string, password: string): SubjectAct {
  return async ({ page, say }) => {
    await page.getByLabel(say('auth:signIn.email')).fill(email);
    await page.getByLabel(say('auth:signIn.password'), { exact: true }).fill(password);
    await button(page, say('auth:signIn.act')).click();
    await page
      .getByRole('alert')
      .or(page.getByLabel(say('auth:factor.totp')))
      .filter({ visible: true })
      .first()
      .waitFor();
  };
}

async function loseConnection({ page, say }: Scene): Promise<void> {
  await page.route(/\/api\/trpc\/live\./, (route) => route.abort());
  await page.reload();
  await page.getByText(say('navigation:live.lost.title')).first().waitFor({ timeout: 60_000 });
}
