// Shows the documents that the page names, with everything off that would ask other hosts.
(() => {
  Scalar.createApiReference("#reference", {
    ...JSON.parse(document.getElementById("settings").textContent),
    agent: { disabled: true },
    documentDownloadType: "none",
    hideClientButton: true,
    hideTestRequestButton: true,
    mcp: { disabled: true },
    persistAuth: false,
    showDeveloperTools: "never",
    telemetry: false,
    withDefaultFonts: false,
  });
  // Its buttons for copying show an icon alone, and say nothing to those who can't see it.
  const name = () => {
    for (const each of document.querySelectorAll("button:not([aria-label])")) {
      if (!each.textContent.trim() && !each.hasAttribute("aria-labelledby")) each.setAttribute("aria-label", "Copy");
    }
  };
  new MutationObserver(name).observe(document.body, { childList: true, subtree: true });
})();
