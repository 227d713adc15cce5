import { expect, type Page } from '@playwright/test';

/**
 * A page that is opened when it is whole. What React streams arrives in a hidden element and is put in its place a
 * moment after the document has loaded; until then it stands there twice, or not where readers see it.
 */
export function openedWhole(page: Page): Page {
  const { goto, reload, goBack, goForward } = page;
  const whole = async <Answer>(opening: Promise<Answer>): Promise<Answer> => {
    const answer = await opening;
    await expect(page.locator('div[hidden][id^="S:"]')).toHaveCount(0);
    return answer;
  };
  return Object.assign(page, {
    goto: (...of: Parameters<Page['goto']>) => whole(goto.apply(page, of)),
    reload: (...of: Parameters<Page['reload']>) => whole(reload.apply(page, of)),
    goBack: (...of: Parameters<Page['goBack']>) => whole(goBack.apply(page, of)),
    goForward: (...of: Parameters<Page['goForward']>) => whole(goForward.apply(page, of)),
  });
}
