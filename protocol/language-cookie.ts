/** The cookie that stores the language chosen in the pages. */
export const languageCookie = 'annex-language';
