import { button, press, type Subject, subject } from './subject.ts';

/** The activity. */
export function activityPages(): Subject[] {
  return [
    subject('activity-none', '/activity?q=nothing-at-all'),
    subject('activity-filtered', '/activity?action=extension&q=share'),
    subject('activity-open', '/activity?action=extension', async ({ page, say }) => {
      for (const index of [0, 0, 0])
        await page
          .getByRole('button', { name: say('activity:contents.show') })
          .nth(index)
          .click();
    }),
  ];
}

/** The settings. */
export function settingsPages(): Subject[] {
  return [
    subject('account-guarded', '/settings/account', undefined, { who: 'guarded' }),
    subject('account-app', '/settings/account', press('account:totp.add'), { floats: true }),
    subject('account-password', '/settings/account', press('account:password.act'), { floats: true }),
    subject('members-invite', '/settings/members', press('settings:invite'), { floats: true }),
    subject(
      'members-invite-publisher',
      '/settings/members',
      async (scene) => {
        await press('settings:invite')(scene);
        const dialog = scene.page.getByRole('dialog');
        await dialog.getByLabel(scene.say('settings:role')).selectOption('publisher');
        await button(scene.page, scene.say('settings:namespaces.new')).click();
        await button(scene.page, scene.say('settings:invite.act')).click();
      },
      { floats: true },
    ),
    subject('rules-rollouts', '/settings/rules', async ({ page, say }) => {
      await page.getByRole('checkbox', { name: say('settings:rollouts.approval.on') }).click();
      await button(page, say('settings:rollouts.freezes.add')).click();
    }),
    subject('rules-viewer', '/settings/rules', undefined, { who: 'viewer' }),
    subject('members-viewer', '/settings/members', undefined, { who: 'viewer' }),
    subject('token-new', '/settings/tokens', press('settings:tokens.create'), { floats: true }),
    subject(
      'token-made',
      '/settings/tokens',
      async (scene) => {
        await press('settings:tokens.create')(scene);
        const dialog = scene.page.getByRole('dialog');
        await dialog.getByLabel(scene.say('settings:name'), { exact: true }).fill('ci-publish');
        await button(scene.page, scene.say('settings:tokens.create.act')).click();
        await dialog
          .getByText(/annex_/)
          .first()
          .waitFor();
      },
      { floats: true },
    ),
  ];
}
