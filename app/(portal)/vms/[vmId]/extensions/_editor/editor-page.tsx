import type { ReactNode } from 'react';
import { words } from '#app/_lib/i18n/server.ts';
import { Words } from '#app/_lib/i18n/words.tsx';
import { FootBar, Page } from '#app/_shell/page.tsx';
import type { Crumb } from '#app/_ui/breadcrumbs.tsx';
import { footId } from './foot-place.ts';

/** The layout of an editor page: the editor, and a bar at the bottom for its errors and buttons. */
export async function EditorPage({ crumbs, children }: { crumbs: readonly Crumb[]; children: ReactNode }) {
  const { t } = await words('editor');
  return (
    <Page
      crumbs={crumbs}
      footer={
        <FootBar>
          <section
            id={footId}
            aria-label={t('foot.label')}
            className="flex min-h-(--control) w-full flex-wrap items-center gap-x-4 gap-y-2"
          />
        </FootBar>
      }
    >
      <Words namespaces={['editor', 'reports', 'memberships']}>{children}</Words>
    </Page>
  );
}
