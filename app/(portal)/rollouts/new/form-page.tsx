import type { ReactNode } from 'react';
import { words } from '#app/_lib/i18n/server.ts';
import { Words } from '#app/_lib/i18n/words.tsx';
import { FootBar, Page } from '#app/_shell/page.tsx';
import type { Crumb } from '#app/_ui/breadcrumbs.tsx';

/** The layout of the form's page: the parts, and a bar at the bottom with what is missing and the buttons. */
export async function FormPage({ crumbs, children }: { crumbs: readonly Crumb[]; children: ReactNode }) {
  const { t } = await words('rollouts');
  return (
    <Page
      crumbs={crumbs}
      footer={
        <FootBar>
          <section
            id="rollout-foot"
            aria-label={t('new.foot.label')}
            className="flex min-h-(--control) w-full flex-wrap items-center gap-x-4 gap-y-2"
          />
        </FootBar>
      }
    >
      <Words namespaces={['rollouts', 'vms', 'reports', 'editor', 'overview']}>{children}</Words>
    </Page>
  );
}
