import { words } from '#app/_lib/i18n/server.ts';
import { Page } from '#app/_shell/page.tsx';
import { EditorSkeleton } from '../extensions/_editor/editor-skeleton.tsx';

/** The outline of the choice, until the portal has answered. */
export default async function NewExtensionLoading() {
  const { t } = await words('common');
  return (
    <Page crumbs={[]}>
      <EditorSkeleton label={t('loading')} />
    </Page>
  );
}
