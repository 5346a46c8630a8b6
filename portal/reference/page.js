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
  // Its buttons for copying are icons, which say nothing to those who can't see them.
  const name = () => {
    for (const each of document.querySelectorAll(".scalar-code-copy:not([aria-label])")) each.setAttribute("aria-label", "Copy");
  };
  new MutationObserver(name).observe(document.body, { childList: true, subtree: true });
})();
